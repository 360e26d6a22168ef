#include "run/acquisition.hpp"

#include <array>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>

#include <fmt/format.h>

#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include "duration.hpp"
#include "exit_status.hpp"
#include "run/narrator.hpp"

namespace holdfast::cli {

namespace {

// A thread that is told by an event that it is over.
class ending_thread {
public:
    template <class Work>
    ending_thread(Work work, int over) : over_{over}, thread_{std::move(work)} {}
    ~ending_thread() {
        ::eventfd_write(over_, 1);
        thread_.join();
    }
    ending_thread(ending_thread const&) = delete;
    ending_thread& operator=(ending_thread const&) = delete;

private:
    int over_;
    std::thread thread_;
};

}  // namespace

acquisition::outcome acquisition::run() {
    owned_descriptor const over{::eventfd(0, EFD_CLOEXEC)};
    std::optional<lease> held;
    {
        ending_thread const listener{[&] { listen(over.get()); }, over.get()};
        std::optional<narrator> story;
        if (task_.narrate) story.emplace(client_, task_.plan.name, task_.line);
        held = acquire();
    }
    if (!held) return refused();
    return {std::move(held), 0, {}};
}

// The lease is the hold: what it was acquired through may go.
std::optional<lease> acquisition::acquire() {
    auto const& plan = task_.plan;
    auto const stop = give_up_.get_token();
    auto const for_ever = !plan.wait;
    auto const once = plan.wait && plan.wait->count() == 0;
    if (plan.permits > 0) {
        semaphore permits{client_, plan.name, plan.limit, plan.lock};
        if (for_ever) return permits.acquire_lease(plan.permits, stop);
        if (once) return permits.try_acquire_lease(plan.permits);
        return permits.try_acquire_lease_for(*plan.wait, plan.permits, stop);
    }
    shared_mutex lock{client_, plan.name, plan.lock};
    if (plan.shared) {
        if (for_ever) return lock.acquire_shared(stop);
        if (once) return lock.try_acquire_shared();
        return lock.try_acquire_shared_for(*plan.wait, stop);
    }
    if (for_ever) return lock.acquire(stop);
    if (once) return lock.try_acquire();
    return lock.try_acquire_for(*plan.wait, stop);
}

// Ends the wait when the supervisor says so, or is no more.
void acquisition::listen(int over) {
    for (;;) {
        std::array<pollfd, 3> sources{{{task_.line.descriptor(), POLLIN, 0},
                                       {task_.signals.descriptor(), POLLIN, 0},
                                       {over, POLLIN, 0}}};
        ::poll(sources.data(), sources.size(), -1);
        if (sources[2].revents != 0) return;
        if (sources[1].revents != 0) {
            auto const signal = task_.signals.next();
            if (!signal || !ends_a_process(*signal)) continue;
            signal_ = *signal;
            give_up_.request_stop();
            return;
        }
        if (sources[0].revents == 0) continue;
        auto const message = task_.line.receive();
        if (message && message->kind != message_kind::cancel) continue;
        give_up_.request_stop();
        return;
    }
}

acquisition::outcome acquisition::refused() {
    if (signal_ != 0) return {{}, exit_status::signalled(signal_), {}};
    if (give_up_.stop_requested()) return {{}, exit_status::not_acquired, {}};
    outcome out{{}, task_.plan.conflict_exit, {}};
    if (task_.plan.quiet) return out;
    auto const who = describe_holder(client_, task_.plan.name);
    auto const wait = task_.plan.wait.value_or(std::chrono::milliseconds{0});
    auto const tried = wait.count() == 0
                           ? std::string{"is not free"}
                           : fmt::format("was not free within {}", short_duration(wait));
    out.text = fmt::format("{} {}{}{}", task_.plan.name, tried, who.empty() ? "" : ": ", who);
    return out;
}

}  // namespace holdfast::cli
