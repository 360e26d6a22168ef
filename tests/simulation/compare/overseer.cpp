#include "simulation/compare/overseer.hpp"

#include <utility>

#include "simulation/world.hpp"

namespace holdfast::simulation {

using namespace stores::compare;

namespace {

// As no client has it.
constexpr seam::client_id operators{1};

base::instant as_instant(seam::store_time when) { return base::instant{when.time_since_epoch()}; }

environment environment_in(world& where) {
    auto who = std::make_shared<seam::identity>();
    who->id = operators;
    return {.self = std::move(who),
            .clocks = {.boot = [&where] { return as_instant(where.store.now()); },
                       .wall = [] { return std::int64_t{1'700'000'000'000'000}; }},
            .entropy = [&where] { return where.random.next(); },
            .log = [](log_level, std::string const&) {}};
}

}  // namespace

overseer::overseer(world& where, documents& at)
    : world_{where}, documents_{at}, machine_{*this, environment_in(where)} {}

void overseer::carry_out(seam::request const& what) {
    machine_.take(seam::request_id{1}, what);
    while (!done_.empty()) {
        auto next = std::move(done_.front());
        done_.pop_front();
        machine_.on_outcome(next.first, std::move(next.second), {world_.store.now(), {}});
    }
    (void)machine_.take_results();
}

driver_traits overseer::traits() const {
    driver_traits out;
    out.clock = documents_.behind().has_clock();
    return out;
}

void overseer::open(ticket which, session_id id, std::chrono::milliseconds lease,
                    std::string body) {
    answer(which, documents_.open(documents_.behind(), id, lease, std::move(body), nullptr,
                                  world_.store.now()));
}

void overseer::keep(ticket which, std::vector<session_id> ids) {
    std::vector<kept> out;
    for (auto const id : ids)
        out.push_back(documents_.keep(documents_.behind(), id, world_.store.now()));
    answer(which, std::move(out));
}

void overseer::raise(ticket which, session_id id) {
    answer(which, documents_.behind().raise(id, world_.store.now()));
}

void overseer::fetch(ticket which, query what) {
    views out;
    for (auto const& each : what.names)
        out.found.push_back(documents_.behind().look(each, world_.store.now()));
    answer(which, std::move(out));
}

void overseer::list(ticket which, listing what) {
    answer(which, documents_.behind().list(what, world_.store.now()));
}

void overseer::commit(ticket which, step what) {
    answer(which, documents_.commit(operators, std::move(what)));
}

}  // namespace holdfast::simulation
