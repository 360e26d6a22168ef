#include "outage_line.hpp"

#include <system_error>

#include <unistd.h>

#include <holdfast/error.hpp>
#include <holdfast/latch.hpp>

#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr std::chrono::seconds refreshed_after{1};
constexpr std::chrono::seconds repeated_after{10};  // where lines stay

// A question that can be taken back, unlike client::ping: about a latch that nobody declares.
class answer_probe {
public:
    explicit answer_probe(client const& client) : nobody_{client, "holdfast: is it there?"} {}

    /// Whether the store answers within a second, which it takes in any case; nothing when it cannot be asked.
    [[nodiscard]] std::optional<bool> ask(std::stop_token const& over) try {
        (void)nobody_.wait_for(worth_telling, over);
        return true;
    } catch (std::system_error const& error) {
        if (error.code() == make_error_code(errc::store_unavailable)) return false;
        return std::nullopt;
    }

private:
    latch nobody_;
};

}  // namespace

outage_line::outage_line(client const& client, invocation const& invocation)
    : client_{client},
      trouble_{invocation.trouble},
      first_contact_{client, invocation.trouble, invocation.patience} {
    if (line_.is_on() || invocation.verbose)
        thread_ = std::jthread{[this](std::stop_token over) { tell(std::move(over)); }};
}

void outage_line::clear() {
    base::lock_guard const guard{mutex_};
    line_.erase();
}

void outage_line::tell(std::stop_token over) {
    if (wait_for_contact(over)) watch(over);
    clear();
}

// False when everything is over.
bool outage_line::wait_for_contact(std::stop_token const& over) {
    std::condition_variable_any wake;
    base::mutex nothing;
    base::unique_lock lock{nothing};
    auto delay = worth_telling;
    while (!wake.wait_for(lock, over, delay, [&] { return over.stop_requested(); })) {
        if (!first_contact_.is_first_contact()) return true;
        show(first_contact_);
        delay = refreshed_after;
    }
    return false;
}

// Who waits for others asks the store nothing for seconds: it is asked here whether it is still there.
void outage_line::watch(std::stop_token const& over) {
    answer_probe probe{client_};
    std::optional<store_silence> outage;
    while (!over.stop_requested()) {
        store_silence const begun{client_, trouble_, std::nullopt};
        auto const answered = probe.ask(over);
        if (over.stop_requested() || !answered) return;
        if (*answered) {
            outage.reset();
            clear();
        } else {
            if (!outage) outage.emplace(begun);
            show(*outage);
        }
    }
}

void outage_line::show(store_silence const& silence) {
    base::lock_guard const guard{mutex_};
    if (line_.is_on()) {
        // A job in the background has no business on the screen.
        if (::tcgetpgrp(STDERR_FILENO) == ::getpgrp()) line_.show(silence.text());
        return;
    }
    auto const now = base::boot_clock::now();
    if (now < next_line_) return;
    next_line_ = now + repeated_after;
    complain(silence.text());
}

}  // namespace holdfast::cli
