#include "simulation/compare/documents.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "simulation/compare/overseer.hpp"
#include "simulation/world.hpp"
#include "stores/compare/message.hpp"

namespace holdfast::simulation {

using namespace stores::compare;

namespace {

driver_tests::server_make make_of(profile const& plan) {
    return plan.family == store_family::compare_with_clock
               ? driver_tests::server_make::with_clock
               : driver_tests::server_make::without_clock;
}

}  // namespace

documents::documents(world& where)
    : world_{where},
      server_{make_of(where.plan), where.broken.documents},
      seen_{where, server_},
      operator_{std::make_unique<overseer>(where, *this)} {}

documents::~documents() = default;

void documents::receive(call what, answer_to answer) {
    world_.store.when_it_speaks([this, what = std::move(what), answer = std::move(answer)] {
        auto const now = world_.store.now();
        answer(what(server_, now), now);
    });
}

void documents::receive(seam::client_id from, step what, answer_to answer) {
    auto run = std::make_shared<driver_tests::step_run>(std::move(what));
    world_.store.when_it_speaks([this, run = std::move(run), from, answer = std::move(answer)] {
        go_on(run, from, answer);
    });
}

// A statement reads the clock when it begins, and may have to wait then: signs of life of one session overtake each
// other.
void documents::receive(std::vector<session_id> ids, answer_to answer) {
    world_.store.when_it_speaks([this, ids = std::move(ids), answer = std::move(answer)] {
        auto const began = world_.store.now();
        auto const carry_out = [this, ids, answer, began] {
            server_.advance(world_.store.now());
            std::vector<kept> out;
            for (auto const id : ids)
                out.push_back(keep(server_, id, began));
            answer(std::move(out), began);
        };
        if (!server_.has_clock()) return carry_out();
        bool const stuck = world_.strikes(world_.plan.spike);
        auto const most = stuck ? world_.plan.spike_max : world_.plan.latency_max / 8;
        world_.time.in(world_.draw(most), carry_out);
    });
}

void documents::go_on(std::shared_ptr<driver_tests::step_run> run, seam::client_id from,
                      answer_to answer) {
    auto const now = world_.store.now();
    bool const done = run->advance(server_, now);
    seen_.look(run->what().key, from);
    if (done) {
        auto out = run->take();
        world_.note([&] { return words(*run, from, out); });
        return answer(std::move(out), now);
    }
    world_.time.in(world_.draw(world_.plan.latency_max / 8),
                   [this, run = std::move(run), from, answer = std::move(answer)] {
                       go_on(run, from, answer);
                   });
}

std::string documents::words(driver_tests::step_run const& run, seam::client_id from,
                             outcome const& what) const {
    auto const* const home = world_.find(from);
    std::string out = home == nullptr ? "an operator" : world::name_of(*home);
    auto const& step = run.what();
    out += "'s step on '" + step.key.name + "'";
    if (step.head) out += step.head->erase ? " erases the head" : " writes the head";
    if (step.nobody_behind) out += ", nobody behind " + std::to_string(*step.nobody_behind);
    for (auto const& item : step.leave)
        out += ", lets " + world_.short_name(item.id) + " leave";
    for (auto const& item : step.append)
        out += ", appends " + world_.short_name(item.id);
    for (auto const& item : step.append_otherwise)
        out += ", else appends " + world_.short_name(item.id);
    out += ": ";
    if (auto const* const done = std::get_if<committed>(&what))
        return out + "carried out" + (done->behind ? ", somebody is behind" : "");
    if (auto const* const other = std::get_if<missed>(&what))
        return out + "missed, " + std::to_string(other->found.line.size()) + " in the line";
    return out + "fenced";
}

outcome documents::commit(seam::client_id from, step what) {
    driver_tests::step_run run{std::move(what)};
    while (!run.advance(server_, world_.store.now())) {}
    seen_.look(run.what().key, from);
    return run.take();
}

outcome documents::open(server& on, session_id id, std::chrono::milliseconds lease,
                        std::string body, driver_tests::server_listener* owner,
                        seam::store_time now) {
    bool const with_claims = !body.empty();
    auto out = on.open(id, world_.plan.given(lease), std::move(body), owner, now);
    if (auto const* const made = std::get_if<opened>(&out)) {
        on.watch_session(id, this, now);
        if (with_claims) sessions_.insert(id);
        expire_at(made->began + made->lease);
        seen_.opened(id, made->began + made->lease, made->lease);
    }
    return out;
}

kept documents::keep(server& on, session_id id, seam::store_time now) {
    auto out = on.keep(id, now);
    if (out.found == kept::state::alive) expire_at(seen_.kept_alive(id, now));
    return out;
}

void documents::expire_at(seam::store_time when) {
    world_.time.at(world_.store.when(when), [this] { server_.advance(world_.store.now()); });
}

void documents::on_session_end(session_id which) {
    sessions_.erase(which);
    world_.note([&] {
        return "session " + std::to_string(static_cast<std::uint64_t>(which)) +
               " ends at the store";
    });
    seen_.session_ended(which, evicting_ ? store_end::evicted : store_end::expired);
}

void documents::operate(seam::request what) {
    world_.store.when_it_speaks([this, what = std::move(what)] { operator_->carry_out(what); });
}

void documents::end_one(std::uint64_t draw) {
    if (sessions_.empty()) return;
    auto const skip = static_cast<std::ptrdiff_t>(draw % sessions_.size());
    evicting_ = true;
    server_.end(*std::next(sessions_.begin(), skip), world_.store.now());
    evicting_ = false;
}

void documents::forge(std::uint64_t draw) {
    auto const waiting = seen_.waiting();
    if (waiting.empty()) return;
    auto const& victim = waiting[draw % waiting.size()];
    auto* const home = world_.find(victim.id.client);
    if (home == nullptr || !home->alive()) return;
    // The variant that does not look at secrets is one for which every secret is the right one.
    auto const secret = world_.broken.believes_letters ? victim.secret : world_.random.next();
    granted_message const lie{.id = victim.id, .secret = secret, .number = symbolic(0)};
    world_.note([&] { return "somebody forges a letter to " + world_.short_name(victim.id); });
    server_.write_letter({victim.session, write_message(lie, 8'000)});
}

}  // namespace holdfast::simulation
