#include "run/hold_watch.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <stop_token>
#include <utility>

#include <poll.h>

#include <fmt/format.h>

namespace holdfast::cli {

using namespace std::chrono_literals;

hold_watch::hold_watch(holder_task& task, lease& lease, std::string shown_store,
                       base::descriptor presence)
    : task_{task},
      lease_{lease},
      shown_store_{std::move(shown_store)},
      presence_{std::move(presence)},
      enforcer_{task.page, task.plan.grace} {
    if (task.plan.max_hold) last_ = base::boot_clock::now() + *task.plan.max_hold;
}

void hold_watch::run() {
    std::stop_callback const when_lost{lease_.lost(), [this] { lost_event_.set(); }};
    look_at_lease();
    task_.channel.send({message_kind::granted, lease_.token(), shown_store_, std::move(presence_)});
    while (!is_over()) {
        timer_.arm(next_look());
        std::array<pollfd, 4> sources{
            {{supervisor_alive_ ? task_.channel.descriptor() : -1, POLLIN, 0},
             {task_.signals.descriptor(), POLLIN, 0},
             {lost_ ? -1 : lost_event_.number(), POLLIN, 0},
             {timer_.number(), POLLIN, 0}}};
        ::poll(sources.data(), sources.size(), -1);
        if (sources[2].revents != 0) lose(lease_.loss_reason());
        look_at_lease();
        if (sources[1].revents != 0) take_signals();
        if (sources[0].revents != 0) take_message();
        enforcer_.act();
        // Nothing runs under the hold any more: the next one need not wait for the lease's end.
        if ((lost_ || !supervisor_alive_) && enforcer_.is_over()) give_back();
    }
}

bool hold_watch::is_over() const noexcept { return given_back_ && (done_ || !supervisor_alive_); }

// The deadline on the page is what the supervisor goes by when we are dead or stuck, so it may be
// early but never late.
void hold_watch::look_at_lease() {
    if (lost_ || given_back_) return;
    auto const now = base::boot_clock::now();
    if (last_ && now >= *last_ - task_.plan.final_grace())
        return lose("it has reached its longest time");
    auto const left = lease_.remaining();
    if (left.count() == 0) return lose(lease_.loss_reason());
    // The library counts to the moment at which it would tell of the loss: a grace before the end.
    auto deadline = now + left + task_.plan.grace;
    if (last_) deadline = std::min(deadline, *last_);
    task_.page.deadline.store(deadline.time_since_epoch().count());
}

base::instant hold_watch::next_look() const noexcept {
    auto const now = base::boot_clock::now();
    if (auto const next = enforcer_.next(); next != base::never) return next;
    if (lost_ || given_back_) return now + 1h;
    auto const tick = std::clamp<std::chrono::nanoseconds>(task_.plan.lease / 16, 10ms, 1s);
    auto const look = now + tick;
    return last_ ? std::min(look, *last_ - task_.plan.final_grace()) : look;
}

void hold_watch::lose(std::string reason) {
    if (lost_) return;
    lost_ = true;
    switch (task_.plan.on_lost) {
    case loss_policy::term: enforcer_.terminate(); break;
    case loss_policy::kill: enforcer_.kill(); break;
    case loss_policy::ignore: break;
    }
    if (reason.empty()) reason = "it could not be renewed in time";
    task_.channel.send({message_kind::lost, 0, std::move(reason)});
}

// For whoever found our pid in `holdfast list`.
void hold_watch::take_signals() {
    while (auto const signal = task_.signals.next()) {
        auto const group = task_.page.group.load();
        if (ends_a_process(*signal) && group > 0) ::kill(-group, *signal);
    }
}

void hold_watch::take_message() {
    auto const message = task_.channel.receive();
    if (!message) {
        supervisor_died();
    } else {
        // A `cancel` that crossed the grant is as good as the `done` that follows it, which the listener
        // of the wait may have taken.
        done_ = true;
        give_back();
    }
}

// The command has lost its parent, and nobody would learn how it ends.
void hold_watch::supervisor_died() {
    supervisor_alive_ = false;
    task_.page.abandoned.store(true);
    enforcer_.terminate();
}

void hold_watch::give_back() {
    if (std::exchange(given_back_, true)) return;
    // A hold that ran out has a store that does not answer: it frees the name by itself.
    bool const ran_out = !lease_.held();
    auto const outcome = ran_out ? release_outcome::already_lost : lease_.release();
    confirmed_ = !ran_out && outcome != release_outcome::unknown;
    lost_ = lost_ || outcome == release_outcome::already_lost;
    unconfirmed_ = outcome == release_outcome::unknown;
}

void hold_watch::report() {
    message answer{message_kind::released, static_cast<std::uint64_t>(hold_end::in_time), {}};
    if (lost_)
        answer.number = static_cast<std::uint64_t>(hold_end::lost);
    else if (unconfirmed_)
        answer.text = fmt::format(
            "the store did not confirm the release of {}: it is free when its lease ends",
            task_.plan.name);
    task_.channel.send(answer);
}

}  // namespace holdfast::cli
