// A client's way to ZooKeeper, for the family of stores that compare.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <holdfast/options.hpp>

#include "base/mutex.hpp"
#include "base/random.hpp"
#include "net/poller.hpp"
#include "stores/compare/driver.hpp"
#include "stores/zookeeper/fault.hpp"
#include "stores/zookeeper/link.hpp"
#include "stores/zookeeper/paths.hpp"

namespace holdfast::stores::zookeeper {

using log_function = std::function<void(log_level, std::string)>;

/// Everything goes by one session of ZooKeeper's, the *common* one, in order, so that whatever was heard of can be
/// read. Each session of the family's is a further one, which does nothing but live. Store time is this machine's own.
class driver final : public compare::driver {
public:
    driver(settings to, log_function log, compare::driver_events& events);
    ~driver() override;

    [[nodiscard]] compare::driver_traits traits() const override;
    void open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
              std::string body) override;
    void keep(compare::ticket which, std::vector<compare::session_id> ids) override;
    void raise(compare::ticket which, compare::session_id id) override;
    void close(compare::session_id id) noexcept override;
    void fetch(compare::ticket which, compare::query what) override;
    void list(compare::ticket which, compare::listing what) override;
    void commit(compare::ticket which, compare::step what) override;
    void watch(compare::ticket which, compare::name_key key) override;
    void unwatch(compare::name_key key) noexcept override;
    void watch_session(compare::session_id id) override;
    void unwatch_session(compare::session_id id) noexcept override;
    void drive(base::instant until) override;
    void interrupt() noexcept override;
    void shut() noexcept override;
    [[nodiscard]] int descriptor() noexcept override { return poller_.descriptor(); }
    void abandon_in_child() noexcept override;

private:
    using event = std::function<void(compare::driver_events&)>;
    using reader = std::function<void(answer&)>;

    /// A session of this client, with a link that lives for it.
    struct own_session {
        compare::session_id id{};
        std::unique_ptr<link> life;
        std::string body{};
        std::chrono::milliseconds given{};  ///< by ZooKeeper
        std::chrono::milliseconds lease{};  ///< what we tell of it
        compare::generation current{};
        int version{0};
        bool open{false};
        std::vector<compare::ticket> opening{};
        base::instant began{};      ///< of the lease, by the last call of `keep`
        base::instant next_beat{};  ///< when ZooKeeper is to hear of us again
        base::instant counted{};    ///< ZooKeeper's leader has surely heard of us since
        struct beat {
            base::instant sent, confirmed;
        };
        std::deque<beat> beats{};
        std::uint64_t next_letter{0};
        bool hears{false};    ///< of the next letter
        bool retried{false};  ///< the record, after the folders were made
    };
    /// What tells a name's node from others, and a head from later ones.
    struct known_node {
        compare::stamp written{};  ///< 0: there is no head in it
        int version{0};
        std::string life{};
        bool counted{false};          ///< the next two are known
        std::uint64_t created{0};     ///< so many nodes were made below it
        std::uint64_t last_place{0};  ///< in the line
    };
    struct watched_name {
        bool in_force{false};
        std::vector<compare::ticket> waiting{};
    };
    struct looked {
        fault trouble{};
        compare::view found{};
    };
    struct looking;
    struct listed;
    struct committing;
    using look_reader = std::function<void(looked&)>;

    // Driving; all of these with the lock held.
    [[nodiscard]] link& common();
    void on_common_connected();
    void on_common_expired();
    void on_event(std::string const& path);
    void greet(std::size_t folder);
    void on_greeted();
    void tell_gap();
    void tend();
    void tend(compare::session_id id, base::instant now);
    void settle();
    [[nodiscard]] base::instant next_due() const noexcept;
    void drive_locked(base::instant until) HOLDFAST_REQUIRES(mutex_);
    bool deliver() HOLDFAST_REQUIRES(mutex_);
    void post(event what) { deliveries_.push_back(std::move(what)); }
    void doubt(std::string why);
    void tell(compare::ticket which, compare::outcome what);
    void tell(compare::ticket which, fault const& trouble);
    [[nodiscard]] fault judge(answer const& from) const;

    // Requests to the common session.
    void get(std::string path, reader then, bool watch = false);
    void children(std::string path, reader then);
    void exists(std::string path, reader then, bool watch = false);
    void together(std::vector<operation> what, reader then);

    // Sessions.
    void open_end(compare::ticket which, compare::session_id id, std::chrono::milliseconds span);
    void write_record(own_session& session);
    void on_record(compare::session_id id, answer const& from);
    void make_mailbox(compare::session_id id);
    void on_open(own_session& session);
    void fail_opening(own_session& session, fault const& trouble);
    void beat(own_session& session, std::function<void(compare::kept::state, base::instant)> then);
    void confirm(own_session& session, answer const& from);
    void end(compare::session_id id);
    void await_letter(compare::session_id id);
    void take_letter(compare::session_id id);
    void clear_mail(compare::session_id id);
    void sweep();
    void note_clock(Stat const& from);
    [[nodiscard]] base::instant end_of(answer const& node) const;
    void look_at_watched(compare::session_id id);
    void on_session_end(compare::session_id id);

    // Names.
    void look(compare::name_query what, look_reader then);
    void look(std::shared_ptr<looking> const& state);
    void read_node(std::shared_ptr<looking> const& state, std::vector<std::string> const& nodes);
    void look_closer(std::shared_ptr<looking> const& state);
    void look_at_session(std::shared_ptr<looking> const& state, compare::session_id id);
    void advance(std::shared_ptr<looking> const& state);
    void learn(compare::name_key const& key, known_node what);
    void learn_from(std::string_view words, compare::stamp written);
    void watch_head(compare::name_key const& key);
    void list_some(std::shared_ptr<listed> const& state);
    void clear_name(std::string const& path);

    // Steps.
    void begin(std::shared_ptr<committing> const& state);
    void try_first(std::shared_ptr<committing> const& state);
    void add_conditions(committing& state);
    void add_writes(committing& state);
    void on_tried(std::shared_ptr<committing> const& state, answer& from);
    void on_committed(std::shared_ptr<committing> const& state, answer const& from);
    void on_refused(std::shared_ptr<committing> const& state, answer const& from);
    void do_second(std::shared_ptr<committing> const& state, bool make_node);
    void look_again(std::shared_ptr<committing> const& state);

    settings const settings_;
    paths const paths_;
    log_function const log_;
    compare::driver_events& events_;
    net::poller poller_;
    std::atomic<bool> interrupted_{false};
    std::atomic<bool> abandoned_{false};

    base::mutex mutex_;  ///< guards what follows
    bool shut_{false};
    base::random chance_;
    net::poller::tag last_tag_{0};
    std::unique_ptr<link> common_;
    std::vector<std::unique_ptr<link>>
        over_;          ///< to be closed when none of their answers is being read
    bool lost_{false};  ///< the common session, since it was last there
    bool gap_{false};   ///< it was another one before
    bool swept_{false};
    std::map<compare::session_id, std::unique_ptr<own_session>> own_;
    std::set<compare::session_id> ended_;  ///< of those, for ever
    std::map<compare::name_key, known_node> known_;
    std::set<seam::claim_id> appended_;  ///< claims that may stand in a line
    std::map<compare::name_key, watched_name> names_;
    std::set<compare::name_key> to_watch_;                   ///< again, when there is a connection
    std::map<compare::session_id, base::instant> sessions_;  ///< watched, and when to look again
    std::map<std::string, std::function<void()>> watched_;   ///< by path
    std::chrono::milliseconds
        leader_time_{};  ///< the wall clock of ZooKeeper's leader, at `leader_heard_`
    base::instant leader_heard_{};
    std::vector<event> deliveries_;
};

}  // namespace holdfast::stores::zookeeper
