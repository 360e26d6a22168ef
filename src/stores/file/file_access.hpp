// One client's access to one store file.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/random.hpp"
#include "stores/file/file_poller.hpp"
#include "stores/file/forks.hpp"
#include "stores/file/open_file.hpp"
#include "stores/file/waiting_claims.hpp"
#include "stores/lease/rules.hpp"

namespace holdfast::stores::file {

/// Thread-safety: `handle`, `take` and `next_look` from any thread at once; `look` and `leave` by
/// one thread at a time. Nothing is called back while a lock is held.
class file_access final : forks::party {
public:
    using log_function = std::function<void(log_level, std::string)>;

    file_access(settings wanted, seam::identity self, log_function log, file_poller& wakes);
    ~file_access();

    /// When a request that is sent now fails because the file is locked.
    [[nodiscard]] base::instant give_up_time(seam::request const& what) const noexcept;

    /// Carries out one request in one transaction. Waits until `patience` for others who have the file
    /// locked; nothing when they still have it, unless it is time to give up: then that is the reply.
    [[nodiscard]] std::optional<seam::reply> handle(seam::request const& what,
                                                    base::instant patience,
                                                    base::instant give_up) noexcept;

    /// What was told to this client and not yet taken.
    [[nodiscard]] std::vector<seam::notice> take();

    /// When `look` is due although nothing happened.
    [[nodiscard]] base::instant next_look() const noexcept {
        return base::instant{std::chrono::nanoseconds{next_look_.load()}};
    }

    /// Follows up what the poller reported: reads our notices, ends the claims of the dead. Takes
    /// little time; false when another thread is busy with the file, which will wake the poller.
    [[nodiscard]] bool look(file_poller::news const& news) noexcept;

    /// Ends our claims, takes our row away and closes the file. Nothing works afterwards.
    void leave() noexcept;

    /// See seam::store::presence.
    [[nodiscard]] base::descriptor share_presence() noexcept;

    /// In the child of a fork.
    void abandon() noexcept;
    [[nodiscard]] bool abandoned() const noexcept { return abandoned_; }

private:
    void hold_still() noexcept override { mutex_.lock(); }
    void go_on() noexcept override { mutex_.unlock(); }
    sqlite3* part() noexcept override;

    /// What is done within a transaction, by the rules and at the time that are given.
    using work = std::function<void(lease::rules&, seam::store_time)>;
    void transact(open_file& file, base::instant patience, work const& what);
    void connect(base::instant patience);
    void join(open_file& file, base::instant patience);
    void require_in_place(open_file& file);

    [[nodiscard]] seam::reply carry_out(seam::request const& what, base::instant patience);
    [[nodiscard]] seam::reply read(seam::request const& what, base::instant patience);
    void prepare(lease::rules& rules, seam::request const& what);
    void observe(seam::request const& what, seam::reply_body const& answer);
    void observe_name(seam::claim_spec const& spec);
    void observe_client(seam::identity const& who);
    void remember(seam::request const& what, seam::reply_body const& answer);

    [[nodiscard]] std::vector<seam::client_id> dead_in_view();
    void tend(base::instant now, bool tick, std::vector<seam::client_id> const& suspects);
    void follow_up(file_poller::news const& news);
    void plan_look(base::instant now);
    [[nodiscard]] bool busy();

    [[nodiscard]] std::vector<std::int64_t> address(open_file& file,
                                                    std::vector<lease::directed_notice>& told,
                                                    std::vector<seam::notice>& own);
    void tell(std::vector<seam::notice> own);
    void say(log_level level, std::string words) { words_.emplace_back(level, std::move(words)); }
    void unlock(std::unique_lock<std::mutex>& guard) noexcept;

    settings const settings_;
    std::shared_ptr<seam::identity const> const self_;
    log_function const log_;
    file_poller& poller_;
    std::atomic<bool> wanted_{false};  ///< a driver found the lock taken
    std::atomic<bool> abandoned_{false};
    std::atomic<base::boot_clock::rep> next_look_{base::never.time_since_epoch().count()};

    /// Guards what follows, up to the inbox. It is held over a fork, from one function to another, and handed to
    /// `unlock`, which Clang cannot follow: so it is no base::mutex.
    std::mutex mutex_;
    bool left_{false};
    bool voided_{false};  ///< our claims were told to be gone: none may stay in the file
    bool deaf_{false};    ///< nobody can wake us, so we look more often
    std::optional<presence> alive_;
    std::unique_ptr<open_file> open_;
    waiting_claims waiting_;
    base::random random_;
    std::vector<std::pair<log_level, std::string>> words_;  ///< to be logged without the lock

    base::mutex inbox_mutex_;  ///< locked after `mutex_`
    std::vector<seam::notice> inbox_ HOLDFAST_GUARDED_BY(inbox_mutex_);
};

}  // namespace holdfast::stores::file
