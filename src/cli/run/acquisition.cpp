#include "run/acquisition.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <poll.h>

#include <fmt/format.h>

#include <holdfast/election.hpp>
#include <holdfast/error.hpp>
#include <holdfast/retry.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include "duration.hpp"
#include "exit_status.hpp"
#include "run/narrator.hpp"

namespace holdfast::cli {

acquisition::acquisition(holder_task& task, client& client) : task_{task}, client_{client} {
    auto const& plan = task_.plan;
    if (plan.value && plan.wait && plan.wait->count() > 0)
        campaign_end_.emplace().arm(base::boot_clock::now() + *plan.wait);
    listener_ = std::thread{[this] { listen(); }};
}

acquisition::~acquisition() { stop_listening(); }

acquisition::outcome acquisition::run() {
    auto held = wait();
    // The listener is told but not waited for: a lock that was free should cost as little as can be. Of
    // a `cancel` and the `done` behind it, it may still take one; each of them ends the hold.
    over_.set();
    if (held) return {std::move(held), 0, {}};
    stop_listening();
    return refused();
}

std::optional<lease> acquisition::wait() {
    std::optional<narrator> story;
    if (task_.narrate || task_.plan.verbose) story.emplace(client_, task_);
    return acquire();
}

void acquisition::stop_listening() noexcept {
    over_.set();
    if (listener_.joinable()) listener_.join();
}

// The lease is the hold: what it was acquired through may go.
std::optional<lease> acquisition::acquire() {
    auto const& plan = task_.plan;
    if (plan.value) return campaign();
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

// A campaign knows no time of its own: the listener ends it.
std::optional<lease> acquisition::campaign() {
    auto const& plan = task_.plan;
    auto options = plan.lock;
    bool const once = plan.wait && plan.wait->count() == 0;
    if (once) options.retry = retry::never();
    election contest{client_, plan.name, options};
    try {
        auto won = contest.campaign(*plan.value, give_up_.get_token());
        // A store that did not answer all the time is another matter than a leader that stayed.
        if (!won && too_late_) (void)contest.leader();
        return won;
    } catch (std::system_error const& error) {
        if (once && error.code() == make_error_code(errc::timed_out)) return std::nullopt;
        throw;
    }
}

// Ends the wait when the supervisor says so, or is no more.
void acquisition::listen() {
    int const campaign_end = campaign_end_ ? campaign_end_->number() : -1;
    for (;;) {
        std::array<pollfd, 4> sources{{{task_.channel.descriptor(), POLLIN, 0},
                                       {task_.signals.descriptor(), POLLIN, 0},
                                       {over_.number(), POLLIN, 0},
                                       {campaign_end, POLLIN, 0}}};
        ::poll(sources.data(), sources.size(), -1);
        if (sources[2].revents != 0) return;
        if (sources[3].revents != 0) {
            too_late_ = true;
            give_up_.request_stop();
            return;
        }
        if (sources[1].revents != 0) {
            auto const signal = task_.signals.next();
            if (!signal || !ends_a_process(*signal)) continue;
            signal_ = *signal;
            give_up_.request_stop();
            return;
        }
        if (sources[0].revents == 0) continue;
        auto const message = task_.channel.receive();
        if (message && message->kind != message_kind::cancel) continue;
        give_up_.request_stop();
        return;
    }
}

acquisition::outcome acquisition::refused() {
    if (signal_ != 0) return {{}, exit_status::signalled(signal_), {}};
    if (give_up_.stop_requested() && !too_late_) return {{}, exit_status::not_acquired, {}};
    outcome out{{}, task_.plan.conflict_exit, {}};
    if (task_.plan.quiet) return out;
    auto const who = describe_holder(client_, task_.plan.name);
    auto const wait = task_.plan.wait.value_or(std::chrono::milliseconds{0});
    auto const tried = wait.count() == 0
                           ? std::string{"is not free"}
                           : fmt::format("was not free within {}", short_duration(wait));
    out.text = fmt::format("{} {} in {}{}{}", task_.plan.name, tried, client_.url(),
                           who.empty() ? "" : ": ", who);
    return out;
}

}  // namespace holdfast::cli
