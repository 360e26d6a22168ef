// The sessions of this client: each a session of ZooKeeper's own, with a record and a box for letters.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stores/zookeeper/common_session.hpp"
#include "stores/zookeeper/living_session.hpp"
#include "stores/zookeeper/mailboxes.hpp"

namespace holdfast::stores::zookeeper {

/// Thread-safety: none; the driver serialises.
class living_sessions {
public:
    living_sessions(context& with, common_session& by, mailboxes& mail)
        : with_{with}, common_{by}, mail_{mail} {}

    void open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
              std::string body);
    void keep(compare::ticket which, std::vector<compare::session_id> const& ids);
    void raise(compare::ticket which, compare::session_id id);
    /// The session of ZooKeeper's ends as well, as soon as somebody drives.
    void end(compare::session_id id);

    /// nullptr: it is not open, or has ended.
    [[nodiscard]] living_session const* find(compare::session_id id) const;

    void tend(base::instant now);
    void take(net::poller::event const& event);
    [[nodiscard]] base::instant due() const noexcept;
    void close_all() { std::exchange(all_, {}).clear(); }
    void abandon() noexcept;
    /// After `abandon`: leaves the library's memory as it is.
    void leave() noexcept;

private:
    using sign_reader = std::function<void(compare::kept::state, base::instant)>;

    /// Nothing when it has ended meanwhile.
    [[nodiscard]] living_session* known(compare::session_id id);
    void begin(living_session& session, std::chrono::milliseconds lease);
    void on_connected(compare::session_id id);
    void write_record(compare::session_id id);
    void on_record(compare::session_id id, answer const& from);
    void read_record(compare::session_id id);
    void write_after_folders(compare::session_id id);
    void tell_open(living_session& session);
    void fail_opening(living_session& session, fault const& trouble);
    void open_end(compare::ticket which, compare::session_id id, std::chrono::milliseconds span);
    void show(living_session& session, sign_reader then);
    void confirm(living_session& session, answer const& from);
    void tend(compare::session_id id, base::instant now);

    context& with_;
    common_session& common_;
    mailboxes& mail_;
    bool swept_{false};
    std::map<compare::session_id, std::unique_ptr<living_session>> all_;
    std::set<compare::session_id> ended_;  ///< for ever
};

}  // namespace holdfast::stores::zookeeper
