#include "histories/event.hpp"

#include <cstdio>

#include <time.h>

namespace holdfast::histories {

instant boot_time() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * second + now.tv_nsec;
}

char const* to_string(kind of) noexcept {
    switch (of) {
    case kind::none: return "none";
    case kind::asked: return "asked";
    case kind::granted: return "granted";
    case kind::refused: return "refused";
    case kind::believed: return "believed";
    case kind::disbelieved: return "disbelieved";
    case kind::weakened: return "weakened";
    case kind::releasing: return "releasing";
    case kind::released: return "released";
    case kind::contradiction: return "contradiction";
    case kind::fenced_read: return "fenced-read";
    case kind::fenced_write: return "fenced-write";
    case kind::fence_refused: return "fence-refused";
    case kind::counting_down: return "counting-down";
    case kind::counted_down: return "counted-down";
    case kind::saw_open: return "saw-open";
    case kind::saw_closed: return "saw-closed";
    case kind::saw_count: return "saw-count";
    case kind::arriving: return "arriving";
    case kind::tripped: return "tripped";
    case kind::broken: return "broken";
    case kind::waiting: return "waiting";
    case kind::woke: return "woke";
    case kind::notified: return "notified";
    case kind::saw_leader: return "saw-leader";
    case kind::heard: return "heard";
    case kind::evicting: return "evicting";
    case kind::evicted: return "evicted";
    case kind::party_began: return "party-began";
    case kind::party_failed: return "party-failed";
    case kind::party_ended: return "party-ended";
    case kind::fault_began: return "FAULT";
    case kind::fault_ended: return "FAULT-ENDED";
    case kind::killed: return "KILLED";
    case kind::forgot: return "FORGOT";
    case kind::ended_holds: return "ENDED-HOLDS";
    case kind::healed: return "HEALED";
    case kind::stuck: return "STUCK";
    case kind::finishing: return "FINISHING";
    case kind::leftover: return "LEFTOVER";
    }
    return "?";
}

char const* to_string(mode of) noexcept {
    switch (of) {
    case mode::exclusive: return "exclusive";
    case mode::shared: return "shared";
    case mode::permits: return "permits";
    }
    return "?";
}

char const* to_string(outcome of) noexcept {
    switch (of) {
    case outcome::none: return "";
    case outcome::released: return "released";
    case outcome::already_lost: return "already-lost";
    case outcome::unknown: return "unknown";
    }
    return "?";
}

std::string describe(event const& one, instant origin) {
    auto const micro = [&](instant at) {
        char text[32];
        std::snprintf(text, sizeof text, "%.6f", static_cast<double>(at - origin) / 1e9);
        return std::string{text};
    };
    auto out = micro(one.before);
    if (one.after != 0) out += " .. " + micro(one.after);
    if (one.worker >= 0)
        out += "  w" + std::to_string(one.worker) + "." + std::to_string(one.incarnation) + "/" +
               std::to_string(one.party);
    out += std::string{"  "} + to_string(one.kind);
    if (one.name[0] != '\0') out += " " + std::string{one.name_view()};
    if (one.mode != mode::exclusive) out += std::string{" "} + to_string(one.mode);
    if (one.call != 0) out += " call=" + std::to_string(one.call);
    if (one.token != 0)
        out += " token=" + std::to_string(one.token >> 8) + "+" + std::to_string(one.token & 255);
    if (one.outcome != outcome::none) out += std::string{" "} + to_string(one.outcome);
    if (one.number != 0) out += " number=" + std::to_string(one.number);
    if (one.second_number != 0) out += " second=" + std::to_string(one.second_number);
    if (one.note[0] != '\0') out += " (" + std::string{one.note_view()} + ")";
    return out;
}

}  // namespace holdfast::histories
