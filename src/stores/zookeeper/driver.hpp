// A client's way to ZooKeeper, for the family of stores that compare.
#pragma once

#include <string>
#include <vector>

#include "stores/compare/polled_driver.hpp"
#include "stores/zookeeper/name_lists.hpp"
#include "stores/zookeeper/steps.hpp"
#include "stores/zookeeper/subscriptions.hpp"

namespace holdfast::stores::zookeeper {

/// Joins its parts and has no logic of its own: a call goes to the part that it concerns. Everything goes by one session of
/// ZooKeeper's, the *common* one. Each session of the family's is a further one, which does nothing but live. Store time is
/// this machine's own.
class driver final : public compare::polled_driver {
public:
    driver(settings to, compare::log_function log, compare::driver_events& events);
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

private:
    void tend() override HOLDFAST_REQUIRES(mutex_);
    void take(std::span<net::poller::event const> events) override HOLDFAST_REQUIRES(mutex_);
    [[nodiscard]] base::instant next_due() const noexcept override HOLDFAST_REQUIRES(mutex_);
    void cut() noexcept override HOLDFAST_REQUIRES(mutex_);
    void abandon() noexcept override HOLDFAST_REQUIRES(mutex_);

    /// Calls a part, and sees that what it has sent is followed up.
    template <class Call>
    void do_call(compare::ticket which, Call&& call);
    template <class Call>
    void do_call(Call&& call);

    context with_;
    common_session common_;
    known_nodes known_;
    name_looks looks_;
    mailboxes mail_;
    living_sessions sessions_;
    subscriptions subscribed_;
    name_lists lists_;
    steps steps_;
};

}  // namespace holdfast::stores::zookeeper
