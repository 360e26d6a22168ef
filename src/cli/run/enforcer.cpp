#include "run/enforcer.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

// The end of a group cannot be waited for, only looked at.
constexpr auto look_again = 5ms;
// What KILL has not ended by then (a zombie that its parent ignores, another user's process) is out
// of reach.
constexpr auto patience = 500ms;

void signal_group(shared_page const& page, int signal) noexcept {
    if (auto const group = page.group.load(); group > 0) ::kill(-group, signal);
}

std::int64_t count(base::instant time) noexcept { return time.time_since_epoch().count(); }

}  // namespace

base::instant enforcer::deadline() const noexcept {
    return base::instant{std::chrono::nanoseconds{page_.deadline.load()}};
}

base::instant enforcer::kill_time() const noexcept {
    return base::instant{std::chrono::nanoseconds{page_.kill_at.load()}};
}

bool enforcer::has_begun() const noexcept { return page_.kill_at.load() != 0; }

void enforcer::terminate() noexcept {
    auto const now = base::boot_clock::now();
    auto const end = std::min(now + grace_, deadline());
    std::int64_t none = 0;
    if (!page_.kill_at.compare_exchange_strong(none, std::max<std::int64_t>(count(end), 1))) return;
    if (end > now) {
        signal_group(page_, SIGTERM);
        // A stopped process would take no notice before it is too late.
        signal_group(page_, SIGCONT);
    }
    act();
}

void enforcer::kill() noexcept {
    page_.kill_at.store(count(base::boot_clock::now()));
    act();
}

void enforcer::act() noexcept {
    if (!has_begun() || killed_ || base::boot_clock::now() < kill_time()) return;
    signal_group(page_, SIGKILL);
    killed_ = base::boot_clock::now();
}

base::instant enforcer::next() const noexcept {
    if (!has_begun() || is_over()) return base::never;
    auto const soon = base::boot_clock::now() + look_again;
    return killed_ ? soon : std::min(kill_time(), soon);
}

bool enforcer::is_over() const noexcept {
    auto const group = page_.group.load();
    if (group == 0) return true;
    if (::kill(-group, 0) != 0 && errno == ESRCH) return true;
    return killed_ && base::boot_clock::now() > *killed_ + patience;
}

}  // namespace holdfast::cli
