#include "simulation/compare/family_client.hpp"

#include <algorithm>
#include <utility>

#include "simulation/world.hpp"

namespace holdfast::simulation {

using namespace stores::compare;
using simulation::moment;

namespace {

using std::chrono::milliseconds;

// Where the store has no clock, its time is that of the client.
seam::store_time as_store_time(base::instant when) {
    return seam::store_time{
        std::chrono::duration_cast<std::chrono::microseconds>(when.time_since_epoch())};
}

base::error trouble() { return {errc::store_unavailable, "the connection broke"}; }

}  // namespace

family_client::family_client(world& where, client& whose)
    : world_{where}, client_{whose}, machine_{*this, surroundings()} {}

family_client::~family_client() { store().behind().forget(this); }

documents& family_client::store() { return *world_.store.with_documents(); }

environment family_client::surroundings() {
    return {.self = client_.self(),
            .clocks = {.boot = [this] { return client_.now(); },
                       .wall = [this] { return world_.store.now().time_since_epoch().count(); }},
            .entropy = [this] { return world_.random.next(); },
            .log = [](log_level, std::string const&) {}};
}

void family_client::send(seam::request_id id, seam::request const& what) {
    if (auto const* const submit = std::get_if<seam::submit>(&what))
        submit_began(id, submit->subject);
    if (auto const* const settle = std::get_if<seam::settle>(&what))
        store().seen().settling(*settle);
    if (auto const* const renew = std::get_if<seam::renew>(&what))
        for (auto const& item : renew->items)
            renewals_[id].push_back(item.subject.id);
    machine_.take(id, what);
    hand_on();
}

void family_client::submit_began(seam::request_id id, seam::claim const& subject) {
    store().seen().submitted(subject);
    submits_.emplace(id, subject.id);
}

// Without an answer, or refused, the next try of the same claim decides.
void family_client::submit_ended(seam::request_id id, seam::reply_body const& body) {
    auto const known = submits_.extract(id);
    bool const in_store =
        std::holds_alternative<seam::queued>(body) || std::holds_alternative<seam::granted>(body);
    if (!known.empty() && in_store) store().seen().decided(known.mapped());
}

void family_client::renewal_ended(seam::request_id id, seam::reply_body const& body) {
    auto const known = renewals_.extract(id);
    auto const* const renewed = std::get_if<seam::renewed>(&body);
    if (known.empty() || renewed == nullptr) return;
    for (std::size_t i = 0; i < renewed->items.size() && i < known.mapped().size(); ++i) {
        auto const found = renewed->items[i].found;
        if (found == seam::renewal::status::alive || found == seam::renewal::status::waiting)
            store().seen().decided(known.mapped()[i]);
    }
}

// Gives the engine what the machine has to say.
void family_client::hand_on() {
    auto made = machine_.take_results();
    for (auto& [id, reply] : made.replies) {
        submit_ended(id, reply.body);
        renewal_ended(id, reply.body);
        client_.hear(id, reply);
    }
    for (auto const& notice : made.notices) {
        if (auto const* const granted = std::get_if<seam::claim_granted>(&notice))
            store().seen().decided(granted->id);
        client_.hear(notice);
    }
    arm();
}

void family_client::arm() {
    auto const due = machine_.next_time();
    if (due == armed_for_) return;
    armed_for_ = due;
    if (due == base::never) return;
    client_.at(client_.clock().when(due), [this, due] {
        if (armed_for_ != due) return;
        armed_for_ = base::never;
        machine_.on_time();
        hand_on();
    });
}

void family_client::close() { machine_.close(); }

// --- calls ---------------------------------------------------------------------------------------

// A call that was lost on its way, or late, is in doubt; one that could not be sent was not carried out.
void family_client::begin(ticket which, carrier bring) {
    begin(which, std::move(bring), world_.plan.duplicate);
}

void family_client::begin(ticket which, carrier bring, unsigned late) {
    auto& net = client_.net();
    auto const sent = client_.now();
    open_.insert(which);
    // A driver does not wait for ever.
    client_.at(world_.time.now() + moment{world_.plan.request_timeout} + moment{milliseconds{500}},
               [this, which] { deliver(which, unknown{trouble()}, {}); });
    if (net.lost(link::requests)) {
        if (!world_.random.one_in(4)) return doubt_later(which);
        return client_.at(world_.time.now(),
                          [this, which] { deliver(which, rejected{trouble()}, {}); });
    }
    auto when = net.arrival(link::requests, moment{0});
    if (world_.strikes(late)) {
        // It is given up, and arrives all the same.
        when += world_.draw(std::chrono::seconds{2});
        doubt_later(which);
    }
    world_.time.at(when, [this, which, sent, bring = std::move(bring)] {
        bring([this, which, sent](outcome what, seam::store_time now) {
            answer(which, std::move(what), now, sent);
        });
    });
}

void family_client::ask(ticket which, documents::call what) {
    begin(which, [this, what = std::move(what)](answer_to answer) {
        store().receive(what, std::move(answer));
    });
}

void family_client::answer(ticket which, outcome what, seam::store_time now, base::instant sent) {
    if (client_.net().lost(link::replies)) return doubt_later(which);
    bool const clock = store().behind().has_clock();
    if (!clock) {
        // One that an earlier call has opened is as old as the store says.
        if (auto* const made = std::get_if<opened>(&what))
            made->began = as_store_time(sent) - (now - made->began);
        if (auto* const all = std::get_if<std::vector<kept>>(&what))
            for (auto& each : *all)
                each.began = as_store_time(sent);
    }
    client_.at(client_.net().arrival(link::replies, moment{0}),
               [this, which, what = std::move(what), now, clock] {
                   deliver(which, what, {clock ? now : as_store_time(client_.now()), {}});
               });
}

void family_client::deliver(ticket which, outcome what, reading when) {
    if (open_.erase(which) == 0) return;
    machine_.on_outcome(which, std::move(what), when);
    hand_on();
}

// Soon, or when the driver has waited long enough.
void family_client::doubt_later(ticket which) {
    bool const silent = world_.random.below(10'000) < world_.plan.silent_drop;
    auto const most = silent ? moment{world_.plan.request_timeout} : moment{milliseconds{50}};
    client_.at(world_.time.now() + world_.draw(most),
               [this, which] { deliver(which, unknown{trouble()}, {}); });
}

void family_client::cut() {
    for (auto const which : open_)
        client_.at(world_.time.now() + world_.draw(milliseconds{5}),
                   [this, which] { deliver(which, unknown{trouble()}, {}); });
    break_stream();
}

driver_traits family_client::traits() const {
    driver_traits out;
    out.clock = world_.plan.family == store_family::compare_with_clock;
    out.pushes = !world_.plan.polls;
    out.letter_bytes = world_.plan.letter_bytes;
    out.shortest_lease = world_.plan.session_least;
    return out;
}

void family_client::open(ticket which, session_id id, milliseconds lease, std::string body) {
    ask(which,
        [this, id, lease, body = std::move(body)](documents::server& on, seam::store_time now) {
            return store().open(on, id, lease, body, client_.alive() ? this : nullptr, now);
        });
}

void family_client::keep(ticket which, std::vector<session_id> ids) {
    begin(which, [this, ids = std::move(ids)](answer_to answer) {
        store().receive(ids, std::move(answer));
    });
}

void family_client::raise(ticket which, session_id id) {
    // It comes when something was stuck, and then is often stuck itself.
    constexpr unsigned often = 2'500;
    auto const late = world_.plan.duplicate > 0 ? std::max(world_.plan.duplicate, often) : 0;
    auto const what = [id](documents::server& on, seam::store_time now) {
        return on.raise(id, now);
    };
    begin(
        which, [this, what](answer_to answer) { store().receive(what, std::move(answer)); }, late);
}

void family_client::close(session_id id) noexcept {
    if (client_.net().lost(link::requests)) return;
    world_.time.at(client_.net().arrival(link::requests, moment{0}), [this, id] {
        store().receive(
            [id](documents::server& on, seam::store_time now) -> outcome {
                on.end(id, now);
                return in_force{};
            },
            [](outcome const&, seam::store_time) {});
    });
}

void family_client::fetch(ticket which, query what) {
    ask(which, [what = std::move(what)](documents::server& on, seam::store_time now) -> outcome {
        views out;
        for (auto const& each : what.names)
            out.found.push_back(on.look(each, now));
        return out;
    });
}

void family_client::list(ticket which, listing what) {
    ask(which, [what = std::move(what)](documents::server& on, seam::store_time now) -> outcome {
        return on.list(what, now);
    });
}

void family_client::commit(ticket which, step what) {
    auto const from = client_.self()->id;
    begin(which, [this, from, what = std::move(what)](answer_to answer) {
        store().receive(from, what, std::move(answer));
    });
}

// --- what is told --------------------------------------------------------------------------------

void family_client::watch(ticket which, name_key key) {
    ask(which, [this, key = std::move(key)](documents::server& on, seam::store_time) -> outcome {
        on.watch(key, this);
        return in_force{};
    });
}

void family_client::unwatch(name_key key) noexcept { store().behind().unwatch(key, this); }

// The driver says it until it was heard.
void family_client::watch_session(session_id id) {
    world_.time.at(client_.net().arrival(link::requests, moment{0}), [this, id] {
        world_.store.when_it_speaks(
            [this, id] { store().behind().watch_session(id, this, world_.store.now()); });
    });
}

void family_client::unwatch_session(session_id id) noexcept {
    store().behind().unwatch_session(id, this);
}

void family_client::tell(std::function<void()> what) {
    if (deaf_) return;
    auto& net = client_.net();
    if (net.lost(link::notices)) return break_stream();
    moment stall{0};
    if (world_.strikes(world_.plan.stalled_notice)) stall = world_.draw(world_.plan.stall_max);
    last_told_ = std::max(last_told_, net.arrival(link::notices, stall));
    client_.at(last_told_, [this, mine = stream_, what = std::move(what)] {
        if (mine != stream_) return;
        what();
        hand_on();
    });
}

void family_client::break_stream() {
    ++stream_;
    if (std::exchange(deaf_, true)) return;
    world_.time.in(world_.draw(milliseconds{100}), [this] { mend_stream(); });
}

void family_client::mend_stream() {
    auto const when = client_.net().arrival(link::notices, moment{0});
    world_.time.at(when, [this] {
        if (client_.net().lost(link::notices))
            return world_.time.in(milliseconds{20}, [this] { mend_stream(); });
        deaf_ = false;
        tell([this] {
            machine_.on_doubt("the connection was cut");
            machine_.on_gap();
        });
    });
}

void family_client::on_letter(session_id to, std::string const& body, stamp written) {
    if (!world_.plan.polls)
        tell([this, to, body, written] { machine_.on_letter(to, body, written); });
}

void family_client::on_changed(name_key const& key) {
    if (!world_.plan.polls) tell([this, key] { machine_.on_changed(key); });
}

void family_client::on_session_end(session_id which) {
    tell([this, which] { machine_.on_session_end(which); });
}

}  // namespace holdfast::simulation
