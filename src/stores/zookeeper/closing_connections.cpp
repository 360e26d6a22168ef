#include "stores/zookeeper/closing_connections.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

namespace holdfast::stores::zookeeper {

namespace {

constexpr std::chrono::seconds longest_stay{2};

// Reads what there is, which nobody wants.
bool is_over(base::descriptor const& socket) noexcept {
    std::array<char, 4096> ignored;
    for (;;) {
        auto const count = ::recv(socket.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
        if (count > 0) continue;
        return count == 0 || (errno != EAGAIN && errno != EINTR);
    }
}

}  // namespace

void closing_connections::add(base::descriptor which) {
    all_.push_back({std::move(which), base::boot_clock::now() + longest_stay});
}

void closing_connections::tend(base::instant now) {
    std::erase_if(all_,
                  [now](one const& each) { return now >= each.until || is_over(each.socket); });
}

base::instant closing_connections::due() const noexcept {
    auto out = base::never;
    for (auto const& each : all_)
        out = std::min(out, each.until);
    return out;
}

void closing_connections::wait(std::chrono::milliseconds longest) noexcept {
    auto const until = base::boot_clock::now() + longest;
    while (!all_.empty()) {
        auto const left =
            std::chrono::ceil<std::chrono::milliseconds>(until - base::boot_clock::now());
        if (left <= left.zero()) return clear();
        pollfd first{all_.back().socket.get(), POLLIN, 0};
        ::poll(&first, 1, static_cast<int>(left.count()));
        if (is_over(all_.back().socket)) all_.pop_back();
    }
}

}  // namespace holdfast::stores::zookeeper
