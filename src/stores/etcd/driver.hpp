// A client's way to etcd, for the family of stores that compare.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <holdfast/options.hpp>

#include "base/mutex.hpp"
#include "stores/compare/driver.hpp"
#include "stores/compare/outbox.hpp"
#include "stores/etcd/connection.hpp"
#include "stores/etcd/keys.hpp"
#include "stores/etcd/look.hpp"
#include "stores/etcd/reads.hpp"
#include "stores/etcd/settings.hpp"
#include "stores/etcd/signs_of_life.hpp"
#include "stores/etcd/subscriptions.hpp"
#include "stores/etcd/watches.hpp"

namespace holdfast::stores::etcd {

/// The driver; in the child of a process that used one, one that refuses everything.
[[nodiscard]] std::unique_ptr<compare::driver> make_driver(settings to, compare::log_function log,
                                                           compare::driver_events& events);

/// gRPC's completion queue is served by whoever drives, so a request and its answer change no thread.
/// Sessions are leases. Store time is this machine's own, since etcd tells none: a lease begins when the
/// request that it rests on was sent.
class driver final : public compare::driver {
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

    void drive(base::instant until) override;
    void interrupt() noexcept override;
    void shut() noexcept override;
    /// A completion queue has none.
    [[nodiscard]] int descriptor() noexcept override { return -1; }
    void abandon_in_child() noexcept override { abandoned_ = true; }

private:
    struct opening_session;
    struct listed;

    /// Letters to one session of ours.
    struct mailbox {
        watches::id watch{0};
        bool in_force{false};
        std::vector<std::shared_ptr<opening_session>> waiting;
    };

    /// Ends the wait of whoever drives.
    struct waker final : completion {
        void complete(bool /*ok*/) override { pending = false; }
        grpc::Alarm alarm;
        std::atomic<bool> pending{false};
    };
    /// All that belongs to gRPC. Not touched in the child of a fork.
    struct core {
        core(settings const& to, keys const& at, connection::listeners who, compare::outbox& out)
            : calls{to, queue, std::move(who)},
              watching{to, calls, queue, out},
              subscribed{at, calls, watching, out} {}
        grpc::CompletionQueue queue;
        waker wake;
        connection calls;
        watches watching;
        subscriptions subscribed;
    };

    [[nodiscard]] connection::listeners listen();
    [[nodiscard]] bool deliver() HOLDFAST_EXCLUDES(mutex_);
    void take_events(base::instant until) HOLDFAST_EXCLUDES(mutex_);
    void wake() noexcept;
    [[nodiscard]] bool finish();
    void tell(compare::ticket which, compare::outcome what) HOLDFAST_REQUIRES(mutex_) {
        out_.tell(which, std::move(what));
    }
    void tell(compare::ticket which, fault const& trouble) HOLDFAST_REQUIRES(mutex_) {
        out_.fail(which, trouble.error, trouble.certain);
    }

    void open_mailbox(std::shared_ptr<opening_session> const& session) HOLDFAST_REQUIRES(mutex_);
    void close_mailbox(compare::session_id id) HOLDFAST_REQUIRES(mutex_);
    void grant(std::shared_ptr<opening_session> const& session) HOLDFAST_REQUIRES(mutex_);
    void ask_for_grant(std::shared_ptr<opening_session> const& session) HOLDFAST_REQUIRES(mutex_);
    void write_record(std::shared_ptr<opening_session> const& session) HOLDFAST_REQUIRES(mutex_);
    void advance(std::shared_ptr<opening_session> const& session, fault const& trouble)
        HOLDFAST_REQUIRES(mutex_);
    void confirm(compare::ticket which, std::vector<sign_of_life> signs, base::instant sent)
        HOLDFAST_REQUIRES(mutex_);

    void complete_views(compare::ticket which, compare::query what, std::vector<looked> seen,
                        bool missed) HOLDFAST_REQUIRES(mutex_);
    void list_some(std::shared_ptr<listed> const& state) HOLDFAST_REQUIRES(mutex_);

    settings const settings_;
    keys const keys_;
    compare::log_function const log_;
    compare::driver_events& events_;

    base::mutex mutex_;
    compare::outbox out_ HOLDFAST_GUARDED_BY(mutex_);
    /// Never another one. Its queue and its waker are used by anybody, the rest of it under the mutex.
    std::unique_ptr<core> core_;
    std::map<compare::session_id, mailbox> mail_ HOLDFAST_GUARDED_BY(mutex_);
    /// They were asked for, and may be there without our having heard of it.
    std::set<compare::session_id> in_doubt_ HOLDFAST_GUARDED_BY(mutex_);
    bool lost_ HOLDFAST_GUARDED_BY(mutex_){false};  ///< the connection, since it was last there
    bool warned_ HOLDFAST_GUARDED_BY(mutex_){false};

    std::atomic<bool> interrupted_{false};
    std::atomic<bool> waiting_{false};  ///< or about to: somebody who drives
    bool abandoned_{false};             ///< set while no other thread is alive
};

}  // namespace holdfast::stores::etcd
