#include "simulation/injectors.hpp"

#include <functional>

#include "simulation/compare/documents.hpp"
#include "simulation/workload.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::milliseconds;

// A fault lasts a moment, about a lease, or long.
moment draw_span(world& where) {
    switch (where.random.below(3)) {
    case 0: return where.draw(milliseconds{50});
    case 1: return where.draw(moment{where.plan.lease_max} * 2);
    default: return where.draw(milliseconds{4'000});
    }
}

client* draw_client(world& where) {
    auto& all = where.clients;
    for (int tries = 0; tries < 8; ++tries) {
        auto& it = *all[where.random.below(all.size())];
        if (it.alive()) return &it;
    }
    return nullptr;
}

void plan(world& where, int count, std::function<void()> const& fault) {
    for (int i = 0; i < count; ++i)
        where.time.at(where.draw(where.plan.chaos), [&where, fault] {
            if (where.faults_on) fault();
        });
}

std::string draw_name(world& where) {
    auto const number = std::to_string(where.random.below(where.plan.names));
    switch (where.plan.about) {
    case theme::permits: return "permits/" + number;
    case theme::barrier: return "barrier/0";
    case theme::election: return "election/" + number;
    case theme::condition: return where.random.one_in(2) ? "items/0" : "room/0";
    default: return "lock/" + number;
    }
}

void evict(world& where) {
    if (auto* const sessions = where.store.with_sessions(); sessions && where.random.one_in(2))
        return sessions->end_one(where.random.next());
    if (auto* const documents = where.store.with_documents();
        documents != nullptr && where.random.one_in(2))
        return documents->end_one(where.random.next());
    seam::evict what{.name = draw_name(where)};
    where.store.receive(std::make_shared<seam::identity const>(), what, [](seam::reply const&) {});
}

void kill(world& where) {
    if (auto* const it = draw_client(where)) {
        it->kill();
        add_working_client(where);
    }
}

void close(world& where) {
    if (auto* const it = draw_client(where); it != nullptr && !it->stopped()) {
        it->leaving = true;
        it->at(where.time.now(), [it] { it->close(); });
        add_working_client(where);
    }
}

void plan_client_faults(world& where) {
    auto const& its = where.plan;
    plan(where, its.cuts, [&where] {
        if (auto* const it = draw_client(where)) it->net().cut();
    });
    plan(where, its.partitions, [&where] {
        auto* const it = draw_client(where);
        bool const lose = where.random.one_in(2);
        if (it != nullptr) it->net().part(where.time.now() + draw_span(where), lose);
    });
    plan(where, its.pauses, [&where] {
        if (auto* const it = draw_client(where)) it->pause(where.time.now() + draw_span(where));
    });
    plan(where, its.kills, [&where] { kill(where); });
    plan(where, its.closes, [&where] { close(where); });
    plan(where, its.wild_clocks, [&where] {
        auto* const it = draw_client(where);
        auto const drift = static_cast<std::int64_t>(where.random.below(900'000)) - 450'000;
        if (it != nullptr) it->skew(drift);
    });
}

}  // namespace

void inject(world& where) {
    auto const& its = where.plan;
    plan_client_faults(where);
    plan(where, its.silences, [&where] {
        bool const lose = where.random.one_in(2);
        where.store.fall_silent(where.time.now() + draw_span(where), lose);
    });
    plan(where, its.restarts, [&where] { where.store.restart(true); });
    plan(where, its.soft_restarts, [&where] { where.store.restart(false); });
    plan(where, its.evictions, [&where] { evict(where); });
    plan(where, its.forgeries,
         [&where] { where.store.with_documents()->forge(where.random.next()); });
    plan(where, its.clock_changes, [&where] {
        auto const lane = where.random.below(where.store.behind().count());
        where.store.change_clock(static_cast<seam::lane_id>(lane));
    });
    plan(where, its.store_jumps,
         [&where] { where.store.jump(std::chrono::microseconds{where.random.below(5'000'000)}); });
}

void heal(world& where) {
    where.faults_on = false;
    where.store.wake();
    for (auto const& each : where.clients) {
        each->net().mend();
        each->resume();
    }
}

}  // namespace holdfast::simulation
