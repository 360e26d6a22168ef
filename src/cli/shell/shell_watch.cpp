#include "shell/shell_watch.hpp"

#include <array>
#include <csignal>
#include <stop_token>
#include <utility>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace holdfast::cli {

shell_watch::shell_watch(shell_task& task, lease& lease, rendezvous& meeting)
    : task_{task}, lease_{lease}, meeting_{meeting} {}

void shell_watch::run() {
    std::stop_callback const when_lost{lease_.lost(), [this] { lost_event_.set(); }};
    while (!dismissed_) {
        std::array<pollfd, 4> sources{{{task_.shell, POLLIN, 0},
                                       {meeting_.descriptor(), POLLIN, 0},
                                       {loss_ || ended_ ? -1 : lost_event_.number(), POLLIN, 0},
                                       {task_.signals.descriptor(), POLLIN, 0}}};
        ::poll(sources.data(), sources.size(), -1);
        if (sources[2].revents != 0) lose(lease_.loss_reason());
        if (sources[3].revents != 0) take_signals();
        if (sources[0].revents != 0) break;
        if (sources[1].revents != 0) meet();
    }
    give_back();
}

hold_answer shell_watch::give_back() {
    if (ended_) return *ended_;
    // A hold that ran out has a store that does not answer: it frees the name by itself.
    auto const outcome = loss_ || !lease_.held() ? release_outcome::already_lost : lease_.release();
    switch (outcome) {
    case release_outcome::released: ended_ = hold_answer::released; break;
    case release_outcome::already_lost: ended_ = hold_answer::lost; break;
    case release_outcome::unknown: ended_ = hold_answer::unknown; break;
    }
    return *ended_;
}

// By its pidfd: another process that has got the shell's number is none of ours to signal.
void shell_watch::lose(std::string reason) {
    if (loss_) return;
    loss_ = reason.empty() ? "it could not be renewed in time" : std::move(reason);
    if (task_.plan.on_lost == loss_policy::ignore) return;
    int const signal = task_.plan.on_lost == loss_policy::kill ? SIGKILL : SIGTERM;
    ::syscall(SYS_pidfd_send_signal, task_.shell, signal, nullptr, 0);
}

// For whoever found our pid in `holdfast list`: the name is free, and the shell learns of it.
void shell_watch::take_signals() {
    while (auto const signal = task_.signals.next()) {
        if (!ends_a_process(*signal) || ended_) continue;
        give_back();
        lose(fmt::format("signal {} ended the process that renews it", *signal));
    }
}

void shell_watch::meet() {
    auto const visitor = meeting_.next();
    if (!visitor) return;
    // The clock decides, also where nobody has been told yet.
    if (!loss_ && !ended_ && !lease_.held()) lose(lease_.loss_reason());
    hold_reply reply{hold_answer::held, lease_.token(), {}};
    if (loss_) {
        reply.answer = hold_answer::lost;
        reply.text = *loss_;
    }
    if (visitor->request == hold_request::release) {
        dismissed_ = true;
        auto const end = give_back();
        if (!loss_) reply.answer = end;
    }
    visitor->answer(reply);
}

}  // namespace holdfast::cli
