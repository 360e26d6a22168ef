#include "simulation/workload.hpp"

#include <algorithm>

#include "core/terms.hpp"
#include "simulation/parties/barrier_party.hpp"
#include "simulation/parties/buffer_party.hpp"
#include "simulation/parties/collector.hpp"
#include "simulation/parties/latch_party.hpp"
#include "simulation/parties/observer.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

retry::policy draw_retry(world& where) {
    switch (where.random.below(3)) {
    case 0: return retry::never();
    case 1: return retry::fixed(where.draw_ms(milliseconds{40}), 1 + int(where.random.below(6)));
    default: return retry::exponential(milliseconds{2}, milliseconds{100});
    }
}

lock_options draw_options(world& where) {
    auto& random = where.random;
    auto const& plan = where.plan;
    lock_options out;
    out.lease = plan.lease_min + where.draw_ms(plan.lease_max - plan.lease_min + milliseconds{1});
    // A client has a session for each length: with a few, several of its users share one.
    if (plan.compares() && !random.one_in(4))
        out.lease = random.one_in(2) ? plan.lease_min : (plan.lease_min + plan.lease_max) / 2;
    out.order = plan.fair_only || random.one_in(4) ? ordering::fair : ordering::barging;
    if (!plan.options) return out;
    if (random.one_in(6)) out.renew = false;
    if (random.one_in(6)) out.renew_every = out.lease / 10 + where.draw_ms(out.lease / 2);
    if (random.one_in(8)) out.max_hold = milliseconds{1} + where.draw_ms(out.lease * 2);
    if (random.one_in(8)) out.min_hold = where.draw_ms(out.max_hold.value_or(milliseconds{60}));
    // What the store gives must leave something after the grace.
    auto const sure = std::min(out.lease, plan.given(out.lease));
    if (random.one_in(6)) out.grace = where.draw_ms(sure / 2);
    if (out.renew_every)
        out.renew_every =
            std::min(*out.renew_every, core::usable_time(out.lease, out.grace) * 9 / 10);
    if (random.one_in(6)) out.retry = draw_retry(where);
    if (random.one_in(3)) out.local_passes = static_cast<int>(random.below(6));
    if (random.one_in(8)) out.owner = "o" + std::to_string(random.below(2));
    return out;
}

seam::claim_spec draw_spec(world& where) {
    auto const number = std::to_string(where.random.below(where.plan.names));
    seam::claim_spec spec{.name = "lock/" + number};
    if (!where.plan.mixed_kinds) return spec;
    switch (where.random.below(4)) {
    case 0: spec.mode = claim_mode::shared; break;
    case 1:
        spec = {.name = "permits/" + number,
                .kind = lock_kind::semaphore,
                .mode = claim_mode::permits,
                .permits = 1 + static_cast<std::uint32_t>(where.random.below(3)),
                .limit = 3};
        break;
    default: break;
    }
    return spec;
}

moment draw_hold(world& where, milliseconds lease) {
    switch (where.random.below(5)) {
    case 0: return microseconds{100};
    case 1: return moment{lease} * 2;
    case 2: return moment{lease} / 4;
    default: return milliseconds{10};
    }
}

}  // namespace

habit draw_habit(world& where) {
    auto& random = where.random;
    habit out;
    auto options = draw_options(where);
    // Threads of one process that use the same terms share a line: make that common.
    if (random.one_in(2)) options = {.lease = where.plan.lease_max};
    if (where.plan.fair_only) options.order = ordering::fair;
    auto spec = draw_spec(where);
    spec.joins = !options.owner.empty() && spec.mode == claim_mode::exclusive && random.one_in(2);
    out.terms = std::make_shared<core::terms const>(core::make_terms(std::move(spec), options));
    out.hold = draw_hold(where, options.lease);
    out.think = milliseconds{random.one_in(4) ? 2 : random.one_in(2) ? 60 : 300};
    out.wake = random.one_in(6) ? moment{milliseconds{20}} : moment{microseconds{60}};
    out.takes_offers = !random.one_in(3);
    if (random.one_in(4)) out.tries = 40;
    if (random.one_in(3)) out.deadlines = 60;
    out.deadline = milliseconds{random.one_in(3) ? 3'000 : 100};
    if (random.one_in(3)) out.stops = 30;
    if (random.one_in(4)) out.renews = 50;
    if (random.one_in(2)) out.relengths = 50;
    if (out.renews == 0) out.relengths = 0;
    out.clings = random.one_in(3) ? 80 : 0;
    return out;
}

namespace {

core::terms_ptr terms_of(seam::claim_spec spec, lock_options const& options) {
    return std::make_shared<core::terms const>(core::make_terms(std::move(spec), options));
}

// Readers and writers of a few names; some writers become readers on the way.
habit draw_reader_or_writer(world& where) {
    auto out = draw_habit(where);
    auto const options = draw_options(where);
    seam::claim_spec spec{.name = "lock/" + std::to_string(where.random.below(where.plan.names))};
    auto reading = spec;
    reading.mode = claim_mode::shared;
    out.weaker = terms_of(reading, options);
    out.terms = where.random.one_in(3) ? terms_of(std::move(spec), options) : out.weaker;
    out.hold = where.random.one_in(4) ? draw_hold(where, options.lease) : milliseconds{10};
    if (out.terms != out.weaker) out.weakens = 40;
    return out;
}

habit draw_permit_user(world& where) {
    constexpr std::uint32_t limit = 3;
    auto out = draw_habit(where);
    auto const options = draw_options(where);
    seam::claim_spec spec{.name = "permits/" + std::to_string(where.random.below(where.plan.names)),
                          .kind = lock_kind::semaphore,
                          .mode = claim_mode::permits,
                          .permits = 1 + static_cast<std::uint32_t>(where.random.below(limit)),
                          .limit = limit};
    auto fewer = spec;
    if (--fewer.permits > 0) {
        out.weaker = terms_of(fewer, options);
        out.weakens = 40;
    }
    if (where.random.one_in(6)) out.limits = 20;
    out.terms = terms_of(std::move(spec), options);
    out.hold = where.random.one_in(4) ? draw_hold(where, options.lease) : milliseconds{20};
    return out;
}

habit draw_candidate(world& where, client const& home) {
    auto out = draw_habit(where);
    auto options = draw_options(where);
    options.owner.clear();
    auto const number = std::to_string(where.random.below(where.plan.names));
    seam::claim_spec spec{.name = "election/" + number, .kind = lock_kind::election};
    spec.value = world::name_of(home) + " " + std::to_string(home.users.size());
    out.terms = terms_of(std::move(spec), options);
    return out;
}

bool patient_one_lives(world const& where) {
    for (auto const& home : where.clients)
        for (auto const& each : home->parties)
            if (auto const* const one = dynamic_cast<buffer_party const*>(each.get()))
                if (home->alive() && !home->leaving &&
                    one->its_role() == buffer_party::role::patient)
                    return true;
    return false;
}

// Notices that get lost heal where many come and look: so in most runs only few do.
buffer_party::role role_for(world const& where, std::size_t number) {
    using enum buffer_party::role;
    bool const second = number % 2 == 1;
    if (where.plan.crowd == 0) return second ? producer : consumer;
    if (!patient_one_lives(where)) return patient;
    return where.plan.crowd == 2 && !second ? fickle : producer;
}

template <class Party, class... Arguments>
void add_party(world& where, client& home, Arguments&&... arguments) {
    auto made = std::make_unique<Party>(where, home, std::forward<Arguments>(arguments)...);
    auto& it = *made;
    home.parties.push_back(std::move(made));
    it.start();
}

void add_worker(world& where, client& home, std::size_t number) {
    switch (where.plan.about) {
    case theme::locks:
    case theme::fair: return where.add_user(home, draw_habit(where)).start();
    case theme::readers: return where.add_user(home, draw_reader_or_writer(where)).start();
    case theme::permits: return where.add_user(home, draw_permit_user(where)).start();
    case theme::latch: return add_party<latch_party>(where, home, number == 0);
    case theme::barrier: return add_party<barrier_party>(where, home, number);
    case theme::election: {
        auto const name = "election/" + std::to_string(number % where.plan.names);
        if (number < 2) add_party<observer>(where, home, name, home.index() * 8 + number);
        return where.add_user(home, draw_candidate(where, home)).start();
    }
    case theme::condition:
        return add_party<buffer_party>(where, home, "0", role_for(where, number));
    case theme::together:
        if (number % 2 == 0) return add_party<collector>(where, home, number);
        return where.add_user(home, draw_habit(where)).start();
    }
}

}  // namespace

void add_working_client(world& where) {
    auto& home = where.add_client();
    for (std::size_t i = 0; i < where.plan.users; ++i)
        add_worker(where, home, i);
}

}  // namespace holdfast::simulation
