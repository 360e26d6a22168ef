#include "outage_line.hpp"

#include <unistd.h>

#include "terminal.hpp"

namespace holdfast::cli {

namespace {
constexpr std::chrono::seconds refreshed_after{1};
constexpr std::chrono::seconds repeated_after{10};  // where lines stay
}  // namespace

outage_line::outage_line(client const& client, invocation const& invocation)
    : silence_{client, invocation.trouble, invocation.patience} {
    if (line_.is_on() || invocation.verbose)
        thread_ = std::jthread{[this](std::stop_token over) { tell(std::move(over)); }};
}

void outage_line::tell(std::stop_token over) {
    base::unique_lock lock{mutex_};
    auto delay = worth_telling;
    while (!wake_.wait_for(lock, over, delay, [&] { return over.stop_requested(); })) {
        if (!silence_.is_first_contact()) break;
        if (line_.is_on()) {
            // A job in the background has no business on the screen.
            if (::tcgetpgrp(STDERR_FILENO) == ::getpgrp()) line_.show(silence_.text());
        } else {
            complain(silence_.text());
        }
        delay = line_.is_on() ? refreshed_after : repeated_after;
    }
    line_.erase();
}

}  // namespace holdfast::cli
