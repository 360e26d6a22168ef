#include "stores/etcd/look.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::etcd {

namespace {

constexpr std::size_t head_at = 0;
constexpr std::size_t line_at = 1;
constexpr std::size_t others_at = ranges_of_a_name;

compare::session_state* find(compare::view& in, compare::session_id id) {
    auto const found = std::ranges::find(in.sessions, id, &compare::session_state::id);
    return found == in.sessions.end() ? nullptr : &*found;
}

// What hangs on a lease is gone with it, so whatever is there proves that its session lives.
void note_alive(compare::view& in, compare::session_id id) {
    if (find(in, id) == nullptr) in.sessions.push_back({.id = id, .alive = true});
}

// Whatever somebody else has put there is passed over.
std::optional<compare::line_item> item_of(compare::name_key const& name, wire::KeyValue const& from,
                                          keys const& at) {
    wire::Waiter waiter;
    if (!waiter.ParseFromString(from.value())) return std::nullopt;
    seam::claim_id const id{seam::client_id{waiter.client()}, waiter.number()};
    if (at.claim(name, id) != from.key()) return std::nullopt;
    return compare::line_item{.id = id,
                              .session = session_of(from.lease()),
                              .place = static_cast<std::uint64_t>(from.create_revision()),
                              .body = std::move(*waiter.mutable_body())};
}

void read_head(compare::view& out, std::vector<compare::session_id>& named,
               wire::RangeResponse const& from) {
    if (from.kvs().empty()) return;
    auto const& found = from.kvs(0);
    out.written = stamp_of(found.mod_revision());
    if (found.lease() != 0) note_alive(out, session_of(found.lease()));
    wire::Head head;
    if (!head.ParseFromString(found.value())) return;  // not ours: the family sees an empty body
    out.body = head.body();
    for (auto const id : head.sessions())
        named.push_back(static_cast<compare::session_id>(id));
}

void read_line(compare::view& out, wire::RangeResponse const& from, keys const& at) {
    for (auto const& each : from.kvs())
        if (auto item = item_of(out.key, each, at)) out.line.push_back(std::move(*item));
    // Those of one step have one place: by their ids, the same for all who look.
    std::ranges::stable_sort(out.line, {}, [](compare::line_item const& each) {
        return std::pair{each.place, each.id};
    });
    out.more = from.count() > from.kvs_size();
}

}  // namespace

std::vector<wire::RangeRequest> ranges_for(compare::name_query const& what, keys const& at) {
    std::vector<wire::RangeRequest> out(others_at);
    out[head_at].set_key(at.head(what.key));
    auto line = at.line(what.key);
    out[line_at].set_key(std::move(line.begin));
    out[line_at].set_range_end(std::move(line.end));
    if (what.line == 0) {
        out[line_at].set_count_only(true);
    } else {
        out[line_at].set_sort_target(wire::RangeRequest::CREATE);
        out[line_at].set_sort_order(wire::RangeRequest::ASCEND);
        if (what.line != compare::name_query::whole_line) out[line_at].set_limit(what.line);
    }
    for (auto const& id : what.claims)
        out.emplace_back().set_key(at.claim(what.key, id));
    for (auto const id : what.sessions)
        out.push_back(range_for(id, what.bodies, at));
    return out;
}

wire::RangeRequest range_for(compare::session_id id, bool body, keys const& at) {
    wire::RangeRequest out;
    out.set_key(at.session(id));
    out.set_count_only(!body);
    return out;
}

void set_session(compare::view& in, compare::session_id id, wire::RangeResponse const& from) {
    compare::session_state state{.id = id, .alive = from.count() > 0};
    if (!from.kvs().empty()) state.body = from.kvs(0).value();
    if (auto* const known = find(in, id); known != nullptr)
        *known = std::move(state);
    else
        in.sessions.push_back(std::move(state));
}

looked view_of(compare::name_query const& what, std::span<wire::RangeResponse const* const> answers,
               keys const& at, std::optional<compare::session_id> alive) {
    looked out{.found = {.key = what.key}, .unknown = {}};
    auto& view = out.found;
    std::vector<compare::session_id> named;
    read_head(view, named, *answers[head_at]);
    read_line(view, *answers[line_at], at);
    auto next = others_at;
    for (auto const& id : what.claims) {
        auto const& found = *answers[next++];
        if (found.kvs().empty() ||
            std::ranges::find(view.line, id, &compare::line_item::id) != view.line.end())
            continue;
        // Another claim of the client may have had the key before.
        auto item = item_of(what.key, found.kvs(0), at);
        if (item && item->id == id) view.others.push_back(std::move(*item));
    }
    for (auto const id : what.sessions)
        set_session(view, id, *answers[next++]);
    if (alive) note_alive(view, *alive);
    for (auto const* const items : {&view.line, &view.others})
        for (auto const& each : *items)
            note_alive(view, each.session);
    if (!what.bodies) return out;
    for (auto const& each : view.sessions)
        named.push_back(each.id);
    std::ranges::sort(named);
    auto const [repeated, end] = std::ranges::unique(named);
    named.erase(repeated, end);
    for (auto const id : named)
        if (std::ranges::find(what.sessions, id) == what.sessions.end()) out.unknown.push_back(id);
    return out;
}

}  // namespace holdfast::stores::etcd
