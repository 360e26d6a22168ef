#include "simulation/profile.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

int few(base::random& random, std::uint64_t most) {
    return 1 + static_cast<int>(random.below(most));
}

void draw_network(profile& out, base::random& random) {
    out.latency_max = microseconds{200 + random.below(random.one_in(3) ? 40'000 : 3'000)};
    out.reorder = random.one_in(4);
    out.silent_drop = static_cast<unsigned>(random.below(10'001));
    if (random.one_in(2)) out.drop = 1U << random.below(12);
    if (random.one_in(3)) out.duplicate = 1U << random.below(12);
    if (random.one_in(3)) {
        out.spike = 1U << random.below(10);
        out.spike_max = milliseconds{50 + random.below(4'000)};
    }
    if (random.one_in(3)) {
        out.stalled_notice = 1U << random.below(13);
        out.stall_max = milliseconds{50 + random.below(4'000)};
    }
    if (random.one_in(3)) out.cuts = few(random, 10);
    if (random.one_in(3)) out.partitions = few(random, 4);
}

void draw_faults(profile& out, base::random& random) {
    if (random.one_in(4)) out.silences = few(random, 3);
    if (random.one_in(6)) out.restarts = few(random, 3);
    if (random.one_in(5)) out.soft_restarts = few(random, 3);
    if (random.one_in(5)) out.evictions = few(random, 6);
    if (random.one_in(3)) out.pauses = few(random, 6);
    if (random.one_in(4)) out.kills = few(random, 3);
    if (random.one_in(6)) out.closes = few(random, 2);
    if (random.one_in(12)) out.store_jumps = few(random, 3);
    if (random.one_in(12)) out.wild_clocks = few(random, 3);
}

// Only deaths: what a death may delay can be held against a bound then.
void leave_only_deaths(profile& out, base::random& random) {
    out.reorder = false;
    out.drop = out.duplicate = out.spike = out.stalled_notice = 0;
    out.cuts = out.partitions = out.silences = out.restarts = out.soft_restarts = 0;
    out.evictions = out.pauses = out.closes = out.store_jumps = out.wild_clocks = 0;
    out.kills = few(random, 3);
}

void suit(profile& out, theme about, base::random& random) {
    out.about = about;
    out.clients = 2 + random.below(3);
    out.users = 2 + random.below(2);
    out.names = 1 + random.below(2);
    out.fair_only = about == theme::fair;
    out.mixed_kinds = about == theme::fair && random.one_in(2);
    if (about == theme::together) out.names = 3;
    if (about == theme::condition) out.crowd = static_cast<int>(random.below(3));
    if (about == theme::condition) out.line = true;  // it cannot do without
    if (!out.in_process && random.one_in(4)) leave_only_deaths(out, random);
}

// Mostly one server: what a seed meant before there were more it goes on meaning.
void draw_lanes(profile& out, base::random& random) {
    if (out.in_process) return;
    if (random.one_in(5)) out.lanes = 2 + random.below(3);
    if (!random.one_in(6) || out.faultless()) return;
    if (out.about == theme::locks || !out.only_deaths()) out.clock_changes = few(random, 4);
}

// A session store. Its time-outs are not so short that a slow network alone ends a session.
void draw_session(profile& out, base::random& random) {
    bool const chosen = random.one_in(5);
    if (!chosen || out.in_process || out.lanes > 1) return;
    out.session = true;
    out.session_least = std::chrono::ceil<milliseconds>(12 * out.latency_max) + milliseconds{100};
    auto const span = out.session_least +
                      milliseconds{random.below(static_cast<std::uint64_t>(out.lease_max.count()))};
    (random.one_in(2) ? out.session_step : out.session_most) = span;
}

// A store that compares. It keeps what it has acknowledged, and has one clock, or none, for ever.
void draw_family(profile& out, std::uint64_t seed) {
    base::random random{seed ^ 0x66616d696c7eULL};
    bool const chosen = random.one_in(5);
    if (!chosen || out.in_process) return;
    out.family =
        random.one_in(2) ? store_family::compare_with_clock : store_family::compare_without_clock;
    out.line = true;
    out.lanes = 1;
    out.clock_changes = out.restarts = out.store_jumps = 0;
    out.session = true;
    out.session_least = std::chrono::ceil<milliseconds>(12 * out.latency_max) + milliseconds{100};
    out.session_most = out.session_step = milliseconds{0};
    // A grant counts from the session's last sign of life: with a lease shorter than a trip nobody gets anything.
    auto const trips = std::chrono::ceil<milliseconds>(5 * out.latency_max);
    out.lease_min = std::max(out.lease_min, trips);
    out.lease_max = std::max(out.lease_max, out.lease_min);
    if (random.one_in(2))
        out.session_step =
            milliseconds{1 + random.below(static_cast<std::uint64_t>(out.lease_max.count()))};
    out.polls = out.family == store_family::compare_with_clock && random.one_in(5);
    if (random.one_in(3)) out.letter_bytes = 300;
    if (random.one_in(3)) out.forgeries = few(random, 6);
    // Calls go by several connections.
    if (random.one_in(2)) out.reorder = true;
}

profile draw_swarm(base::random& random);

}  // namespace

profile draw_profile(base::random& random, std::uint64_t seed) {
    auto out = draw_swarm(random);
    base::random aside{~seed};  // so that the seeds of locks go on meaning what they meant
    if (auto const about = theme_of(seed); about != theme::locks) suit(out, about, aside);
    base::random beside{seed * 0x9e3779b97f4a7c15ULL};  // for the same reason
    draw_lanes(out, beside);
    draw_session(out, beside);
    draw_family(out, seed);
    return out;
}

namespace {

profile draw_swarm(base::random& random) {
    profile out;
    out.clients = 1 + random.below(4);
    out.users = 1 + random.below(5);
    out.names = 1 + random.below(3);
    auto aside = random;  // a draw of its own, so that older seeds go on meaning what they meant
    (void)aside.next();
    out.in_process = (aside.next() >> 32) % 8 == 0;
    out.line = !random.one_in(4) || out.in_process;
    out.mixed_kinds = random.one_in(3);
    out.fair_only = random.one_in(6);
    out.timer_lateness = microseconds{random.below(1'500)};
    out.request_timeout = milliseconds{100 + random.below(3'000)};
    out.patience = milliseconds{500 + random.below(10'000)};
    out.lease_min = milliseconds{50 + random.below(200)};
    out.lease_max = out.lease_min + milliseconds{random.below(random.one_in(2) ? 500 : 3'000)};
    out.chaos = milliseconds{2'000 + random.below(6'000)};
    if (random.one_in(8)) {  // nothing goes wrong, and nothing may be excused
        out.latency_max = microseconds{200 + random.below(3'000)};
        return out;
    }
    if (out.in_process) {  // no network, and nobody dies alone
        if (random.one_in(2)) out.evictions = few(random, 6);
        if (random.one_in(2)) out.pauses = few(random, 6);
        if (random.one_in(4)) out.closes = few(random, 2);
        return out;
    }
    draw_network(out, random);
    draw_faults(out, random);
    return out;
}

}  // namespace

std::string profile::text() const {
    std::string out =
        to_string(about) + std::string{": "} + std::to_string(clients) + " clients of " +
        std::to_string(users) + " users on " + std::to_string(names) + " names, leases of " +
        std::to_string(lease_min.count()) + " to " + std::to_string(lease_max.count()) +
        " ms, latency up to " + std::to_string(latency_max.count() / 1'000) + " us";
    auto const add = [&](char const* what, std::int64_t count) {
        if (count != 0) out += std::string{", "} + what + " " + std::to_string(count);
    };
    add("no line", line ? 0 : 1);
    add("in process", in_process ? 1 : 0);
    add("reorder", reorder ? 1 : 0);
    add("mixed kinds", mixed_kinds ? 1 : 0);
    add("fair only", fair_only ? 1 : 0);
    add("crowd", crowd);
    add("drop", drop);
    add("duplicate", duplicate);
    add("spike", spike);
    add("stalled notices", stalled_notice);
    add("cuts", cuts);
    add("partitions", partitions);
    add("silences", silences);
    add("restarts", restarts);
    add("soft restarts", soft_restarts);
    add("evictions", evictions);
    add("pauses", pauses);
    add("kills", kills);
    add("closes", closes);
    add("store jumps", store_jumps);
    add("lanes", lanes > 1 ? static_cast<std::int64_t>(lanes) : 0);
    add("clock changes", clock_changes);
    add("session of at least", session_least.count());
    add("in steps of", session_step.count());
    add("at most", session_most.count());
    add("compares with a clock", family == store_family::compare_with_clock ? 1 : 0);
    add("compares without a clock", family == store_family::compare_without_clock ? 1 : 0);
    add("polls", polls ? 1 : 0);
    add("forgeries", forgeries);
    add("wild clocks", wild_clocks);
    return out;
}

}  // namespace holdfast::simulation
