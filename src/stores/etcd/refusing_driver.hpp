// The driver of a process that must not use gRPC.
#pragma once

#include <utility>
#include <vector>

#include "base/alarm.hpp"
#include "base/mutex.hpp"
#include "stores/compare/driver.hpp"

namespace holdfast::stores::etcd {

/// Answers everything with one error.
class refusing_driver final : public compare::driver {
public:
    refusing_driver(base::error why, compare::driver_events& events)
        : why_{std::move(why)}, events_{events} {}

    [[nodiscard]] compare::driver_traits traits() const override { return {.clock = false}; }
    void open(compare::ticket which, compare::session_id /*id*/,
              std::chrono::milliseconds /*lease*/, std::string /*body*/) override {
        refuse(which);
    }
    void keep(compare::ticket which, std::vector<compare::session_id> /*ids*/) override {
        refuse(which);
    }
    void raise(compare::ticket which, compare::session_id /*id*/) override { refuse(which); }
    void close(compare::session_id /*id*/) noexcept override {}
    void fetch(compare::ticket which, compare::query /*what*/) override { refuse(which); }
    void list(compare::ticket which, compare::listing /*what*/) override { refuse(which); }
    void commit(compare::ticket which, compare::step /*what*/) override { refuse(which); }
    void watch(compare::ticket which, compare::name_key /*key*/) override { refuse(which); }
    void unwatch(compare::name_key /*key*/) noexcept override {}
    void watch_session(compare::session_id /*id*/) override {}
    void unwatch_session(compare::session_id /*id*/) noexcept override {}

    void drive(base::instant until) override {
        if (deliver() || until <= base::boot_clock::now()) return;
        alarm_.wait(until);
        deliver();
    }
    void interrupt() noexcept override { alarm_.ring(); }
    void shut() noexcept override {}
    [[nodiscard]] int descriptor() noexcept override { return -1; }

private:
    void refuse(compare::ticket which) {
        base::lock_guard const guard{mutex_};
        refused_.push_back(which);
        alarm_.ring();
    }
    bool deliver() {
        std::vector<compare::ticket> out;
        {
            base::lock_guard const guard{mutex_};
            out.swap(refused_);
        }
        for (auto const each : out)
            events_.on_outcome(each, compare::rejected{why_}, {});
        return !out.empty();
    }

    base::error const why_;
    compare::driver_events& events_;
    base::alarm alarm_;
    base::mutex mutex_;
    std::vector<compare::ticket> refused_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::stores::etcd
