#include "stores/zookeeper/step_attempt.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace holdfast::stores::zookeeper {

namespace {

using kind = operation::kind;

bool contains(std::vector<compare::line_item> const& all, compare::line_item const& item) {
    return std::ranges::find(all, item.place, &compare::line_item::place) != all.end();
}

std::string data_of(compare::head_write const& head) {
    std::string out;
    for (auto const id : head.sessions)
        out += base::hex(static_cast<std::uint64_t>(id));
    return out + "\n" + head.body;
}

}  // namespace

void step_attempt::compose(paths const& at, int version, std::string life) {
    if (by == way::change && empties()) by = way::remove;
    operations.clear();
    removal = count = answer::nowhere;
    add_conditions(at, version, std::move(life));
    for (auto const& each : what.append)
        add({.what = kind::create,
             .path = below(paths::claim(each)),
             .data = each.body,
             .mode = ZOO_EPHEMERAL_SEQUENTIAL});
    std::string about;
    add_head(about);
    add_letters(at, about);
    // Some operation must be one that tells its number: a `set`, of the head or else of our own box.
    if (!writes() || by == way::remove) add({.what = kind::set, .path = at.mail(what.self)});
}

void step_attempt::add_conditions(paths const& at, int version, std::string life) {
    add({.what = kind::check, .path = at.session(what.self), .version = version});
    if (by == way::make) {
        node = {.life = std::move(life)};
        add({.what = kind::create, .path = path});
        add({.what = kind::create, .path = below(node.life)});
    } else if (by == way::change) {
        add({.what = kind::check, .path = below(node.life)});
    }
    // Who joins the line gets the number of nodes that were made before: if we get it, nobody has joined since.
    if (by == way::change && what.nobody_behind) {
        add({.what = kind::create, .path = below("count-"), .mode = ZOO_PERSISTENT_SEQUENTIAL});
        auto const counted = below(paths::numbered("count-", node.created++));
        count = operations.size();
        add({.what = kind::check, .path = counted});
        add({.what = kind::remove, .path = counted});
    }
    for (auto const& each : what.present)
        if (!contains(what.leave, each))
            add({.what = kind::check, .path = below(paths::claim_at_its_place(each))});
    for (auto const& each : what.leave)
        add({.what = kind::remove, .path = below(paths::claim_at_its_place(each))});
}

void step_attempt::add_head(std::string& about) {
    if (by == way::remove) {
        add({.what = kind::remove, .path = below(node.life)});
        removal = operations.size();
        add({.what = kind::remove, .path = path, .version = node.version});
    } else if (writes()) {
        add({.what = kind::set,
             .path = path,
             .data = erases() ? "" : data_of(*what.head),
             .version = node.version});
        auto next = node;
        ++next.version;
        if (!erases()) about = known_nodes::words(what.key, next);
    } else if (by != way::make) {
        add({.what = kind::check, .path = path, .version = node.version});
    } else if (what.append.empty()) {  // it was made only to see that it was not there
        add({.what = kind::remove, .path = below(node.life)});
        add({.what = kind::remove, .path = path});
    }
}

void step_attempt::add_letters(paths const& at, std::string const& about) {
    letters_at = operations.size();
    for (auto const& each : what.letters)
        if (!deaf.contains(each.to))
            add({.what = kind::create,
                 .path = at.mail(each.to) + "/",
                 .data = about + "\n" + each.body,
                 .mode = ZOO_PERSISTENT_SEQUENTIAL});
    letters_end = operations.size();
}

}  // namespace holdfast::stores::zookeeper
