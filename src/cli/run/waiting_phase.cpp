#include "run/waiting_phase.hpp"

#include <array>
#include <csignal>
#include <utility>

#include <poll.h>

#include "exit_status.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

std::variant<taken_lock, refusal> waiting_phase::run() {
    for (;;) {
        std::array<pollfd, 2> sources{
            {{holder_.channel().descriptor(), POLLIN, 0}, {signals_.descriptor(), POLLIN, 0}}};
        ::poll(sources.data(), sources.size(), -1);
        if (sources[1].revents != 0) take_signals();
        if (sources[0].revents == 0) continue;
        if (auto outcome = take_message()) {
            line_.erase();
            return *std::move(outcome);
        }
    }
}

void waiting_phase::take_signals() {
    while (auto const signal = signals_.next()) {
        if (*signal == SIGTSTP)
            suspend();
        else if (ends_a_process(*signal))
            cancel(*signal);
    }
}

void waiting_phase::cancel(int signal) {
    if (cancelled_by_ != 0) return holder_.hasten();
    cancelled_by_ = signal;
    holder_.dismiss(message_kind::cancel);
}

void waiting_phase::suspend() {
    line_.erase();
    // The holder has to stand still with us: granted behind our back, a stopped job would keep
    // everybody else waiting.
    holder_.signal(SIGSTOP);
    signals_.stop_group();
    holder_.signal(SIGCONT);
}

std::optional<std::variant<taken_lock, refusal>> waiting_phase::take_message() {
    auto message = holder_.channel().receive();
    if (!message) {
        if (cancelled_by_ != 0) return refusal{exit_status::signalled(cancelled_by_)};
        line_.erase();
        complain("the process that waits for the lock was killed");
        return refusal{exit_status::internal};
    }
    switch (message->kind) {
    case message_kind::waiting:
        // A job in the background has no business on the screen.
        if (terminal_.is_ours() && cancelled_by_ == 0) line_.show(message->text);
        return {};
    case message_kind::silent:
        if (cancelled_by_ == 0) complain(message->text);
        return {};
    case message_kind::granted:
        if (cancelled_by_ == 0)
            return taken_lock{message->number, std::move(message->text),
                              std::move(message->presence)};
        holder_.dismiss(message_kind::done);
        return {};
    case message_kind::failed:
        line_.erase();
        if (cancelled_by_ != 0) return refusal{exit_status::signalled(cancelled_by_)};
        if (!message->text.empty()) complain(message->text);
        return refusal{static_cast<int>(message->number)};
    case message_kind::released: return refusal{exit_status::signalled(cancelled_by_)};
    default: return {};
    }
}

}  // namespace holdfast::cli
