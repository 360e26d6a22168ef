// One connection to one server: commands go out in order, answers come back in order.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "net/poller.hpp"
#include "stores/redis/answer.hpp"
#include "stores/redis/dial_pause.hpp"
#include "stores/redis/gathering.hpp"
#include "stores/redis/greeting.hpp"
#include "stores/redis/question.hpp"
#include "stores/redis/script_cache.hpp"
#include "stores/redis/settings.hpp"

namespace holdfast::net {
class stream;
}

namespace holdfast::stores::redis {

/// Connects when there is something to send, or always (`keep`), and again with growing pauses
/// after a failure (`dial_pause`). It has proved useful when a command of an asker was carried out, or its owner says so.
/// When it breaks, everything that was under way fails: nobody can know what of it took effect. Nothing here waits.
///
/// Thread-safety: none; its owner serialises.
class connection final : gathering::owner {
public:
    /// What else happens on a connection.
    class watcher {
    public:
        virtual void on_open() = 0;
        /// Something that nobody asked for. Throws `garbled` or `unwelcome`.
        virtual void on_push(answer const& what) = 0;
        virtual void on_break(base::error const& why) = 0;
        /// The server answered a question of an asker with an error. True when the watcher has taken the
        /// question over, to ask it elsewhere or later.
        virtual bool takes_over(question& /*what*/, std::string_view /*words*/) { return false; }

    protected:
        ~watcher() = default;
    };

    /// The poller reports `about` when `on_ready` should be called, and wakes when `tend` should.
    connection(std::shared_ptr<settings const> to, std::string name, watcher& of,
               net::poller& events, net::poller::tag about, std::uint64_t seed);
    ~connection();
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;

    /// Queues a command. Its asker is answered from inside only when the server that is reached is not the one
    /// that it is meant for.
    void send(question what, base::instant now);

    /// The same, with the time for an answer that the settings give.
    void send(command what, asker& from, std::size_t which, base::instant now,
              std::chrono::milliseconds answer_within = {});

    /// Bytes vanish on the way: the server was heard on this connection, and has been silent for
    /// longer since than a command allows. One that was never heard is not dead but waits for a slow
    /// server, so one dead connection is followed by one fresh one, not by a row of them.
    [[nodiscard]] bool seems_dead(base::instant now) const noexcept;

    /// From when on its silence is a reason to look for another server: somebody has waited in vain. Never, where
    /// nobody waits.
    [[nodiscard]] base::instant troubled_from() const noexcept;

    /// The shortest silence that counts: busy machines pause for less.
    static constexpr std::chrono::milliseconds shortest_silence{50};

    /// Queues a command whose answer, if any, comes to the watcher. Only while it is open.
    void tell(command what) { out_.append(what.bytes()); }

    /// Something useful has come: the pauses between tries begin small again.
    void prove() noexcept { pause_.prove(); }

    /// Writes what is queued, as far as there is room. What goes together with others may be left to gather while
    /// somebody reads the answers, and comes here again with each of them.
    void flush(base::instant now, bool may_gather = false);

    /// Stay connected from now on, also without commands.
    void keep() noexcept { kept_ = true; }

    /// Dials this server from now on. Not from inside of what it calls; there is no connection while it is
    /// called, or it is cut before.
    void lead_to(std::shared_ptr<settings const> to);
    [[nodiscard]] settings const& target() const noexcept { return *to_; }

    /// From the next connection on, before anything else is sent: learn which server it is, have nothing to do with a
    /// replica, and for a connection that calls scripts learn which of them are there.
    void vet(bool calls_scripts) noexcept { greeting_.vet(calls_scripts); }
    /// Of the server that is reached: the same for all of its clients, another after its restart. Where
    /// the server does not say which it is, one of this connection alone. 0 while there is none.
    [[nodiscard]] seam::clock_id clock() const noexcept { return greeting_.clock(); }
    /// Whether all clients of the server, and its other connections, know the clock by the same name.
    [[nodiscard]] bool clock_is_shared() const noexcept { return greeting_.clock_is_shared(); }

    /// What time brings: connects, gives up, reconnects.
    void tend(base::instant now);
    [[nodiscard]] base::instant next_due() const noexcept;

    /// After a wait: the socket may be ready.
    void on_ready(base::instant now);
    /// There is more to read, which the poller may not see: call `on_ready` again soon.
    [[nodiscard]] bool has_more() const noexcept { return more_; }

    [[nodiscard]] bool is_ready() const noexcept { return at_ == phase::ready; }
    [[nodiscard]] std::size_t unanswered() const noexcept {
        return asked_.size() + gathering_.size() + held_.size();
    }

    /// Ends the connection. Everything under way fails; it connects again when it is wanted.
    void cut(base::error const& why, base::instant now);

    /// In the child of a fork: lets go of the socket without a word to the server.
    void abandon() noexcept;

private:
    enum class phase { idle, dialling, greeting, ready };

    void dial(base::instant now);
    void greet(base::instant now);
    void put(question what, base::instant now);
    void expect_answer(question const& what, base::instant now) noexcept;
    void send_alone(question what) override;
    [[nodiscard]] base::instant answer_by() const override {
        return base::boot_clock::now() + to_->timeout;
    }
    void take_greeting(question const& asked, answer const& what, base::instant now);
    void become_ready(base::instant now);
    void receive(base::instant now);
    void take(answer const& what, base::instant now);
    void take_apart(question const& batch, std::string_view words);
    void take_error(question what, std::string_view words, base::instant now);
    void repeat(question what, base::instant now);
    void expire(base::instant now);
    [[nodiscard]] base::error no_connection() const;
    [[nodiscard]] base::instant front_due() const noexcept;

    template <class Step>
    void guarded(base::instant now, Step step);

    std::shared_ptr<settings const> to_;
    watcher& watcher_;
    net::poller& events_;
    net::poller::tag const about_;

    phase at_{phase::idle};
    bool kept_{false};
    greeting greeting_;
    dial_pause pause_;
    base::instant connect_by_{};
    bool heard_{false};                       ///< something came on this connection
    base::instant silent_from_{base::never};  ///< from then on its silence is too long
    std::optional<base::error> last_error_;

    std::unique_ptr<net::stream> stream_;
    std::unique_ptr<answer_parser> parser_;
    answer answer_;
    std::vector<char> buffer_;
    bool more_{false};  ///< was left unread, so that others have their turn
    std::string out_;
    std::size_t written_{0};      ///< of `out_`
    std::deque<question> asked_;  ///< sent or to be sent, in order
    std::deque<question> held_;   ///< wait for a connection
    gathering gathering_;         ///< to be sent with the next write
    script_cache scripts_;
};

}  // namespace holdfast::stores::redis
