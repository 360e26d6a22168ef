#include "compare/contract.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;

namespace {

constexpr std::chrono::milliseconds long_lease{120'000};

}  // namespace

member::member(driver_under_test& store, session_id id)
    : session{id}, client_{[&](driver_events& events) { return store.make(events); }} {
    current = expect<opened>(client_.open(id, long_lease)).current;
}

member::~member() {
    client_.driver().close(session);
    client_.driver().drive(base::boot_clock::now());
}

step member::on(name_key const& key) const {
    step out;
    out.key = key;
    out.self = session;
    out.of = current;
    out.otherwise.key = key;
    out.otherwise.line = name_query::whole_line;
    return out;
}

line_item member::claim(std::string body) {
    line_item out;
    out.id = {seam::client_id{static_cast<std::uint64_t>(session)}, ++last_claim_};
    out.session = session;
    out.body = std::move(body);
    return out;
}

driver_contract::driver_contract() : chance_{base::entropy()}, store_{GetParam().make()} {}

session_id driver_contract::new_session() { return session_id{(chance_.next() >> 1) | 1}; }

std::string driver_contract::new_name(std::string const& beginning) {
    return beginning + "/" + base::hex(chance_.next());
}

view driver_contract::look(member& who, name_key const& key, std::vector<session_id> sessions) {
    name_query what;
    what.key = key;
    what.line = name_query::whole_line;
    what.sessions = std::move(sessions);
    return who->look(std::move(what));
}

bool driver_contract::alive(client& witness, session_id id) {
    name_query what;
    what.key.name = "a name that nobody has";
    what.sessions = {id};
    view const found = witness.look(std::move(what));
    auto const state = std::ranges::find(found.sessions, id, &session_state::id);
    if (state == found.sessions.end()) {
        ADD_FAILURE() << "a session that was asked for is not told";
        return false;
    }
    return state->alive;
}

own_session driver_contract::open_mortal(client& who, std::string body) {
    // Where it must end by itself, there must be time to do something with it before.
    auto const lease = store().ends_sessions() ? long_lease : 4 * store().short_lease();
    session_id const id = new_session();
    opened const made = expect<opened>(who.open(id, lease, std::move(body)));
    return {id, made.current, made.lease, made.began};
}

void driver_contract::end(session_id id, client& witness) {
    if (store().ends_sessions()) store().end_session(id);
    base::instant const limit =
        base::after(base::boot_clock::now(), patience + 4 * store().short_lease());
    while (alive(witness, id)) {
        ASSERT_LT(base::boot_clock::now(), limit) << "a session that nobody keeps does not end";
        witness.drive_for(std::chrono::milliseconds{20});
    }
}

bool driver_contract::drive_all_until(std::vector<client*> const& all,
                                      std::function<bool()> const& met) {
    base::instant const end = base::after(base::boot_clock::now(), patience);
    while (!met()) {
        if (base::boot_clock::now() >= end) return false;
        for (client* const one : all)
            one->driver().drive(base::after(base::boot_clock::now(), std::chrono::milliseconds{1}));
    }
    return true;
}

line_item driver_contract::wait_in_line(member& who, name_key const& key, std::string body) {
    line_item item = who.claim(std::move(body));
    step what = who.on(key);
    what.expected = stamp{1};  // nobody's
    what.append_otherwise = {item};
    view const found = expect<missed>(who->commit(what)).found;
    auto const standing = std::ranges::find(found.line, item.id, &line_item::id);
    if (standing == found.line.end()) {
        ADD_FAILURE() << "who joined the line does not stand there";
        return item;
    }
    return *standing;
}

stamp driver_contract::write_head(member& who, name_key const& key, std::string body) {
    step what = who.on(key);
    what.expected = look(who, key).written;
    what.head = head_of(std::move(body));
    return expect<committed>(who->commit(what)).written;
}

void let_leave(step& what, line_item const& item) {
    what.present.push_back(item);
    what.leave.push_back(item);
}

void require_nobody_but(step& what, std::vector<line_item> const& seen) {
    what.nobody_behind = 0;
    what.seen_places.clear();
    for (line_item const& item : seen) {
        what.nobody_behind = std::max(*what.nobody_behind, item.place);
        what.seen_places.push_back(item.place);
    }
}

head_write head_of(std::string body) {
    head_write out;
    out.body = std::move(body);
    return out;
}

std::vector<seam::claim_id> claims_of(view const& what) {
    std::vector<seam::claim_id> out;
    for (line_item const& item : what.line)
        out.push_back(item.id);
    return out;
}

INSTANTIATE_TEST_SUITE_P(drivers, driver_contract, testing::ValuesIn(contract_cases()),
                         [](auto const& row) { return row.param.name; });

}  // namespace holdfast::driver_tests
