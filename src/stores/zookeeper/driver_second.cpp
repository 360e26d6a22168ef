// The second branch of a step: claims join the line, and then the name is looked at.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "stores/zookeeper/committing.hpp"

namespace holdfast::stores::zookeeper {

namespace {

constexpr std::size_t most_appended = 100'000;

}  // namespace

// Those who join may be told twice to do so; a claim that was sent before is looked for first.
void driver::do_second(std::shared_ptr<committing> const& state, bool make_node) {
    auto const& what = state->what;
    auto const look_and_tell = [this, state] {
        look(state->what.otherwise, [this, state](looked& seen) {
            if (seen.trouble) return tell(state->which, seen.trouble);
            tell(state->which, compare::missed{std::move(seen.found)});
        });
    };
    if (what.append_otherwise.empty()) return look_and_tell();
    bool const doubtful = appended_.size() > most_appended ||
                          std::ranges::any_of(what.append_otherwise, [&](auto const& each) {
                              return appended_.contains(each.id);
                          });
    auto const join = [this, state, look_and_tell,
                       make_node](std::vector<std::string> const& nodes) {
        using kind = operation::kind;
        std::set<seam::claim_id> standing;
        for (auto const& node : nodes)
            if (auto const child = paths::parse_claim(node)) standing.insert(child->id);
        auto const own = own_.find(state->what.self);
        if (own == own_.end() || own->second->current != state->what.of)
            return tell(state->which, compare::fenced{});
        std::vector<operation> all{{.what = kind::check,
                                    .path = paths_.session(state->what.self),
                                    .version = own->second->version}};
        if (make_node) {
            all.push_back({.what = kind::create, .path = state->path});
            all.push_back(
                {.what = kind::create,
                 .path = state->below(std::string{life_prefix} + base::hex(chance_.next()))});
        }
        for (auto const& each : state->what.append_otherwise) {
            if (standing.contains(each.id)) continue;
            appended_.insert(each.id);
            all.push_back({.what = kind::create,
                           .path = state->below(paths::claim(each)),
                           .data = each.body,
                           .mode = ZOO_EPHEMERAL_SEQUENTIAL});
        }
        together(std::move(all), [this, state, look_and_tell, make_node](answer const& from) {
            if (from.code == ZOK) return look_and_tell();
            if (from.failed == 0) return tell(state->which, compare::fenced{});
            bool const other = from.failed != answer::nowhere &&
                               (from.code == ZNONODE || from.code == ZNODEEXISTS);
            if (!other || ++state->tries > 2 * committing::most_tries)
                return tell(state->which, judge(from));
            do_second(state, !make_node);
        });
    };
    if (!doubtful) return join({});
    children(state->path, [this, state, join](answer const& from) {
        if (from.code != ZOK && from.code != ZNONODE) return tell(state->which, judge(from));
        join(from.names);
    });
}

}  // namespace holdfast::stores::zookeeper
