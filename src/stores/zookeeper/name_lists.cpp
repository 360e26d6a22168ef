#include "stores/zookeeper/name_lists.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace holdfast::stores::zookeeper {

struct name_lists::listed {
    compare::ticket which{};
    compare::listing what;
    std::set<std::string> names{};  ///< that may have to be listed
    compare::names out{};
    std::vector<std::pair<std::string, bool>> seen{};
    fault trouble{};
    std::size_t left{0};
};

void name_lists::list(compare::ticket which, compare::listing what) {
    auto const state = std::make_shared<listed>();
    state->which = which;
    state->what = std::move(what);
    state->left = 2;
    common_.sync();
    for (bool const condition : {false, true})
        common_.children(with_.at.folder(condition), [this, state](answer const& from) {
            if (from.code != ZOK) state->trouble = with_.judged(from);
            for (auto const& each : from.names) {
                auto name = paths::unescaped(each);
                if (name.starts_with(state->what.prefix) &&
                    (state->what.after.empty() || name > state->what.after))
                    state->names.insert(std::move(name));
            }
            if (--state->left == 0) list_some(state);
        });
}

// A node may be there with nothing in it: what a line has left behind.
void name_lists::list_some(std::shared_ptr<listed> const& state) {
    auto& found = state->out.found;
    std::size_t const most = state->what.most;
    for (auto const& [name, there] : std::exchange(state->seen, {}))
        if (there && found.size() < most && (found.empty() || found.back() != name))
            found.push_back(name);
    if (state->trouble) return with_.tell(state->which, state->trouble);
    if (state->names.empty() || found.size() >= most) return with_.tell(state->which, state->out);
    auto const end = std::next(state->names.begin(),
                               static_cast<std::ptrdiff_t>(std::min(state->names.size(), most)));
    std::vector<std::string> const batch{state->names.begin(), end};
    state->names.erase(state->names.begin(), end);
    state->left = 2 * batch.size();
    for (auto const& name : batch)
        for (bool const condition : {false, true}) {
            auto const path = with_.at.name({name, condition});
            common_.exists(path, [this, state, name, path](answer const& from) {
                bool const waited_for = from.code == ZOK && from.stat.numChildren > 1;
                bool const held = from.code == ZOK && from.stat.dataLength > 0;
                state->seen.emplace_back(name, waited_for || (held && !state->what.waited_for));
                if (from.code == ZOK && !waited_for && !held) clear_name(path);
                if (from.code != ZOK && from.code != ZNONODE) state->trouble = with_.judged(from);
                if (--state->left == 0) list_some(state);
            });
        }
}

void name_lists::clear_name(std::string const& path) {
    common_.children(path, [this, path](answer const& from) {
        if (from.code != ZOK || from.names.size() > 1 || from.stat.dataLength > 0) return;
        std::vector<operation> all;
        for (auto const& each : from.names)
            all.push_back({.what = operation::kind::remove, .path = path + "/" + each});
        all.push_back(
            {.what = operation::kind::remove, .path = path, .version = from.stat.version});
        common_.together(std::move(all));
    });
}

}  // namespace holdfast::stores::zookeeper
