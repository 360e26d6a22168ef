#include "stores/zookeeper/name_looks.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace holdfast::stores::zookeeper {

namespace {

constexpr int most_rounds = 16;

// Then the data that were read first are those of the moment of the second read.
bool same_data(Stat const& one, Stat const& other) {
    return one.czxid == other.czxid && one.mzxid == other.mzxid;
}

std::vector<compare::session_id> parse_sessions(std::string_view words) {
    std::vector<compare::session_id> out;
    for (; words.size() >= base::hex_digits; words.remove_prefix(base::hex_digits))
        if (auto const id = base::parse_hex(words.substr(0, base::hex_digits)))
            out.push_back(compare::session_id{*id});
    return out;
}

}  // namespace

/// A look at one name, in up to two trips.
struct name_looks::looking {
    compare::name_query what;
    reader then;
    std::vector<compare::line_item> own;  ///< that need not be read
    looked out{};
    answer head{};
    std::vector<waiting_child> wanted{};       ///< of the line, and claims that were asked for
    std::size_t first{0};                      ///< so many of them are the beginning of the line
    std::vector<std::string> bodies{};         ///< of those
    std::vector<std::uint64_t> arrivals{};     ///< of those
    std::set<compare::session_id> asked{};     ///< sessions
    std::vector<compare::session_id> named{};  ///< in the head
    std::size_t left{0};                       ///< answers
    bool vanished{false};                      ///< one who was there when it was looked
    int rounds{0};
};

void name_looks::look(compare::name_query what, reader then, std::vector<compare::line_item> own) {
    auto const state = std::make_shared<looking>();
    state->what = std::move(what);
    state->then = std::move(then);
    state->own = std::move(own);
    look(state);
}

// Two reads are one look at the moment of the second when the first would have found the same then.
void name_looks::look(std::shared_ptr<looking> const& state) {
    if (++state->rounds > most_rounds) {
        state->out.trouble = {
            .error = {errc::store_unavailable, "the name changes faster than ZooKeeper at " +
                                                   with_.given.shown() + " can be asked for it"},
            .certain = true};
        return state->then(state->out);
    }
    auto const path = with_.at.name(state->what.key);
    state->out = {};
    state->wanted.clear();
    state->asked.clear();
    state->vanished = false;
    common_.get(path, [state](answer& from) { state->head = std::move(from); });
    common_.children(path, [this, state](answer& from) {
        auto& head = state->head;
        for (answer const* const each : {&head, &from})
            if (each->code != ZOK && each->code != ZNONODE) {
                state->out.trouble = with_.judged(*each);
                return state->then(state->out);
            }
        if (head.code != from.code || (head.code == ZOK && !same_data(head.stat, from.stat)))
            return look(state);
        head.stat = from.stat;
        read_node(*state, from.names);
        look_closer(state);
    });
}

void name_looks::read_node(looking& state, std::vector<std::string> const& nodes) {
    auto& view = state.out.found;
    auto const& head = state.head;
    view.key = state.what.key;
    if (head.code != ZOK) return known_.forget(view.key);
    known_node node{.version = head.stat.version,
                    .counted = true,
                    .created = created_below(head.stat.cversion, head.stat.numChildren)};
    if (auto const end = head.data.find('\n'); end != std::string::npos) {
        node.written = view.written = stamp_of(head.stat.mzxid);
        view.body = head.data.substr(end + 1);
        state.named = parse_sessions(std::string_view{head.data}.substr(0, end));
    }
    for (auto const& each : nodes) {
        if (each.starts_with(life_prefix)) node.life = each;
        if (auto child = paths::parse_claim(each)) state.wanted.push_back(std::move(*child));
    }
    std::ranges::sort(state.wanted, {}, &waiting_child::place);
    if (!state.wanted.empty()) node.last_place = state.wanted.back().place;
    known_.learn(view.key, std::move(node));
    view.more = state.wanted.size() > state.what.line;
    state.first = std::min<std::size_t>(state.wanted.size(), state.what.line);
    auto const behind = state.wanted.begin() + static_cast<std::ptrdiff_t>(state.first);
    auto const rest = std::remove_if(behind, state.wanted.end(), [&](waiting_child const& each) {
        return std::ranges::find(state.what.claims, each.id) == state.what.claims.end();
    });
    state.wanted.erase(rest, state.wanted.end());
}

// The bodies of those who wait, and whether sessions live. Death is for ever: what is read later is as good.
void name_looks::look_closer(std::shared_ptr<looking> const& state) {
    auto const path = with_.at.name(state->what.key);
    state->bodies.assign(state->wanted.size(), {});
    state->arrivals.assign(state->wanted.size(), 0);
    state->left = 1;
    state->asked.insert(state->what.sessions.begin(), state->what.sessions.end());
    for (std::size_t each = 0; each < state->wanted.size(); ++each) {
        if (know_already(*state, each)) continue;
        state->asked.insert(state->wanted[each].session);
        ++state->left;
        common_.get(path + "/" + state->wanted[each].node, [this, state, each](answer& from) {
            if (from.code == ZOK) {
                state->bodies[each] = std::move(from.data);
                state->arrivals[each] = static_cast<std::uint64_t>(from.stat.czxid);
            } else if (from.code == ZNONODE) {
                state->vanished = true;
            } else {
                state->out.trouble = with_.judged(from);
            }
            advance(state);
        });
    }
    if (state->what.bodies) state->asked.insert(state->named.begin(), state->named.end());
    for (auto const id : state->asked)
        look_at_session(state, id);
    advance(state);
}

bool name_looks::know_already(looking& state, std::size_t child) {
    auto const& seen = state.wanted[child];
    auto const mine = std::ranges::find_if(state.own, [&](compare::line_item const& each) {
        return each.id == seen.id && each.session == seen.session;
    });
    if (state.what.bodies || mine == state.own.end()) return false;
    state.bodies[child] = mine->body;
    auto& sessions = state.out.found.sessions;
    if (std::ranges::find(sessions, mine->session, &compare::session_state::id) == sessions.end())
        sessions.push_back({.id = mine->session, .alive = true});
    return true;
}

void name_looks::look_at_session(std::shared_ptr<looking> const& state, compare::session_id id) {
    ++state->left;
    auto const path = with_.at.session(id);
    common_.get(path, [this, state, id, path](answer& from) {
        auto const add = [this, state, id](bool alive, std::string body) {
            state->out.found.sessions.push_back(
                {.id = id, .alive = alive, .body = state->what.bodies ? std::move(body) : ""});
            advance(state);
        };
        if (from.code == ZNONODE) return add(false, {});
        if (from.code != ZOK) {
            state->out.trouble = with_.judged(from);
            return advance(state);
        }
        bool const end = from.stat.ephemeralOwner == 0;
        if (with_.clock.end_of(from) > base::boot_clock::now())
            return add(true, end ? std::string{} : std::move(from.data));
        common_.together(
            {{.what = operation::kind::remove, .path = path}},
            [add](answer const& gone) { add(gone.code != ZOK && gone.code != ZNONODE, {}); });
    });
}

void name_looks::advance(std::shared_ptr<looking> const& state) {
    if (--state->left > 0) return;
    if (state->vanished && !state->out.trouble) return look(state);
    auto& view = state->out.found;
    for (std::size_t each = 0; each < state->wanted.size(); ++each) {
        auto const& from = state->wanted[each];
        (each < state->first ? view.line : view.others)
            .push_back({.id = from.id,
                        .session = from.session,
                        .place = from.place,
                        .body = std::move(state->bodies[each]),
                        .arrival = state->arrivals[each]});
    }
    state->then(state->out);
}

void name_looks::fetch(compare::ticket which, compare::query what) {
    struct fetching {
        compare::views out;
        fault trouble;
        std::size_t left;
    };
    auto const state = std::make_shared<fetching>(fetching{{}, {}, what.names.size() + 1});
    state->out.found.resize(what.names.size());
    auto const advance = [this, which, state] {
        if (--state->left > 0) return;
        state->trouble ? with_.tell(which, state->trouble)
                       : with_.tell(which, std::move(state->out));
    };
    // Whoever serves us has seen what was written before, wherever that was.
    common_.sync([this, state, advance](answer const& from) {
        if (from.code != ZOK) state->trouble = with_.judged(from);
        advance();
    });
    for (std::size_t each = 0; each < what.names.size(); ++each)
        look(std::move(what.names[each]), [state, each, advance](looked& seen) {
            if (seen.trouble) state->trouble = seen.trouble;
            state->out.found[each] = std::move(seen.found);
            advance();
        });
}

}  // namespace holdfast::stores::zookeeper
