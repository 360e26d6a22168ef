// The reference of what a driver does: one over a document server in this process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/event.hpp"
#include "base/mutex.hpp"
#include "base/random.hpp"
#include "compare/document_server.hpp"

namespace holdfast::driver_tests {

class memory_driver;

/// A document server that several drivers share. Calls wait in it until a driver is driven, whichever it is;
/// then those that are there are carried out moment by moment, in an order that differs from run to run.
///
/// Thread-safety: all of it from any thread. It outlives its drivers.
class memory_server {
public:
    memory_server(server_make make, std::uint64_t seed) : documents_{make}, chance_{seed} {}

    /// An operator's word.
    void end_session(compare::session_id id);

private:
    friend class memory_driver;

    /// Goes on; true when it is done.
    using job = std::function<bool(document_server& server, seam::store_time now)>;
    struct pending {
        memory_driver* of;
        bool held_back;
        job what;
    };

    void work() HOLDFAST_REQUIRES(mutex_);
    [[nodiscard]] static seam::store_time now();

    base::mutex mutex_;
    document_server documents_ HOLDFAST_GUARDED_BY(mutex_);
    base::random chance_ HOLDFAST_GUARDED_BY(mutex_);
    std::vector<pending> pending_ HOLDFAST_GUARDED_BY(mutex_);
};

/// Thread-safety: as `compare::driver` says.
class memory_driver final : public compare::driver, private server_listener {
public:
    memory_driver(memory_server& server, compare::driver_events& events);
    ~memory_driver() override;

    /// Steps that are committed from here on stay on their way.
    void hold_back_steps();
    void let_steps_go();
    /// What the server tells is lost until the driver is driven again, which then says that there was a gap.
    void cut();

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
    [[nodiscard]] int descriptor() noexcept override { return wake_.number(); }

private:
    using event = std::function<void(compare::driver_events&)>;
    /// Of which the outcome is known at one moment.
    using answer = std::function<compare::outcome(document_server& server, seam::store_time now)>;

    void on_letter(compare::session_id to, std::string const& body,
                   compare::stamp written) override;
    void on_changed(compare::name_key const& key) override;
    void on_session_end(compare::session_id which) override;
    void hear(event what);

    void begin(memory_server::job what, bool held_back = false);
    void ask(compare::ticket which, answer what);
    void answer_with(compare::ticket which, compare::outcome what, seam::store_time now);
    [[nodiscard]] std::vector<event> collect();
    void wait(base::instant until);

    memory_server& server_;
    compare::driver_events& events_;
    base::event wake_;

    // These belong to the server's mutex.
    std::vector<event> told_;
    bool interrupted_{false};
    bool deaf_{false};
    bool holding_back_{false};
};

}  // namespace holdfast::driver_tests
