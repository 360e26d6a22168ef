#include "simulation/link.hpp"

#include <algorithm>
#include <utility>

#include "simulation/compare/family_client.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::milliseconds;

}  // namespace

void link::send(core::engine::outgoing out) {
    auto const id = out.id;
    auto const& behind = world_.store.behind();
    auto const to = behind.present(behind.lane_of(out.what));
    server::route by{to, {}};
    if (auto const* const submit = std::get_if<seam::submit>(&out.what);
        submit != nullptr && world_.plan.session)
        by.in = client_.sessions().session_for(submit->subject);
    open_.emplace(id, by);
    auto const fate = on_request ? on_request(out.what) : script{};
    if (!behind.fits(out.what))
        return client_.at(world_.time.now(), [this, id, to] {
            fail(id, "another server answers for the name now", to.clock);
        });
    if (lost(requests) || fate.lose_request) return drop(id);
    auto const when = arrival(requests, fate.delay_request);
    world_.time.at(
        when, [this, id, what = std::move(out.what), by, fate] { arrive(id, what, by, fate); });
}

void link::arrive(seam::request_id id, seam::request const& what, server::route by,
                  script const& fate) {
    auto& store = world_.store;
    auto const self = client_.self();
    if (world_.strikes(world_.plan.duplicate)) {
        // Carried out, its answer lost, and carried out again later.
        auto const later = milliseconds{world_.random.below(2'000)};
        // A driver that sends a swap again says that the first attempt failed: a barrier relies on it.
        auto const* const swap = std::get_if<seam::swap>(&what);
        bool const told = swap != nullptr && swap->key.kind == lock_kind::barrier;
        bool const heard = world_.random.one_in(2) && !told;
        store.receive(self, what, by,
                      [this, self, id, what, by, fate, later, heard](seam::reply const&) {
                          world_.time.in(later, [this, self, id, what, by, fate, heard] {
                              world_.store.receive(self, what, by,
                                                   [this, id, fate, heard](seam::reply reply) {
                                                       if (heard)
                                                           answer(id, std::move(reply), fate);
                                                   });
                          });
                      });
        return;
    }
    store.receive(self, what, by,
                  [this, id, fate](seam::reply reply) { answer(id, std::move(reply), fate); });
}

void link::answer(seam::request_id id, seam::reply reply, script const& fate) {
    if (lost(replies) || fate.lose_reply) return drop(id);
    client_.at(arrival(replies, fate.delay_reply),
               [this, id, reply = std::move(reply)] { deliver(id, reply); });
}

void link::deliver(seam::request_id id, seam::reply const& reply) {
    if (open_.erase(id) > 0) client_.hear(id, reply);
}

void link::push(seam::notice what, std::uint64_t session) {
    if (lost(notices)) return;
    moment stall{0};
    if (on_notice) stall = on_notice(what);
    if (stall == moment::max()) return;
    if (world_.strikes(world_.plan.stalled_notice)) stall += world_.draw(world_.plan.stall_max);
    client_.at(arrival(notices, stall), [this, session, what = std::move(what)] {
        if (!client_.sessions().over(session)) client_.hear(what);
    });
}

void link::beat(session_ref which, std::function<void(bool)> answer) {
    if (lost(requests)) return;
    world_.time.at(arrival(requests, moment{0}), [this, which, answer = std::move(answer)] {
        world_.store.receive_beat(which, [this, answer](bool alive) {
            if (lost(replies)) return;
            client_.at(arrival(replies, moment{0}), [answer, alive] { answer(alive); });
        });
    });
}

void link::fail_session(std::uint64_t number) {
    std::vector<seam::request_id> submitted;
    for (auto const& [id, by] : open_)
        if (by.in.number == number) submitted.push_back(id);
    for (auto const id : submitted)
        fail(id, "the session has ended");
}

bool link::lost(stream which) {
    if (world_.time.now() < parted_until_ && losing_) return true;
    auto const chance = world_.plan.drop;
    return world_.strikes(which == notices ? chance : chance / 2);
}

moment link::arrival(stream which, moment delay) {
    auto const& plan = world_.plan;
    auto const from = std::max(world_.time.now(), parted_until_);
    auto when = from + plan.latency_min + world_.draw(plan.latency_max - plan.latency_min) + delay;
    if (world_.strikes(plan.spike)) when += world_.draw(plan.spike_max);
    if (!plan.reorder) when = std::max(when, last_[which]);
    last_[which] = when;
    return when;
}

// A lost message: the client learns of it soon, or never.
void link::drop(seam::request_id id) {
    if (world_.random.below(10'000) < world_.plan.silent_drop) return;
    client_.at(world_.time.now() + world_.draw(milliseconds{50}),
               [this, id] { fail(id, "the connection broke"); });
}

void link::fail(seam::request_id id, char const* why, seam::clock_id clock) {
    deliver(id, {{}, seam::failure{{errc::store_unavailable, why}}, clock});
}

void link::cut(std::optional<seam::lane_id> lane) {
    if (client_.family() != nullptr) return client_.family()->cut();
    // Whoever connects anew says so: what was watched must be asked for again.
    if (world_.plan.about != theme::locks)
        client_.at(world_.time.now() + world_.draw(milliseconds{5}), [this] {
            client_.hear(
                seam::session_changed{seam::session_changed::state::restored, "connected anew"});
        });
    if (world_.plan.session)
        client_.at(world_.time.now() + world_.draw(milliseconds{5}),
                   [this] { client_.sessions().disconnected(); });
    for (auto const& [id, by] : open_)
        if (!lane || by.to.lane == *lane)
            client_.at(world_.time.now() + world_.draw(milliseconds{5}),
                       [this, id] { fail(id, "the connection was cut"); });
}

void link::part(moment until, bool lose) {
    parted_until_ = std::max(parted_until_, until);
    losing_ = lose;
}

}  // namespace holdfast::simulation
