// Letters, and what is left of them.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "stores/zookeeper/driver.hpp"
#include "stores/zookeeper/times.hpp"

namespace holdfast::stores::zookeeper {

namespace {

constexpr std::size_t most_swept = 32;

}  // namespace

void driver::await_letter(compare::session_id id) {
    auto const found = own_.find(id);
    if (found == own_.end()) return;
    auto const path = paths_.letter(id, found->second->next_letter);
    found->second->hears = true;
    watched_[path] = [this, id] { take_letter(id); };
    exists(
        path,
        [this, id, path](answer const& from) {
            if (from.code == ZOK && watched_.erase(path) > 0) return take_letter(id);
            auto const known = own_.find(id);
            if (known != own_.end() && from.code != ZOK && from.code != ZNONODE)
                known->second->hears = false;  // asked again when there is a connection
        },
        true);
}

// The next one is waited for before this one has come: their numbers are known beforehand.
void driver::take_letter(compare::session_id id) {
    auto const found = own_.find(id);
    if (found == own_.end()) return;
    auto const number = found->second->next_letter++;
    auto const path = paths_.letter(id, number);
    get(path, [this, id](answer const& from) {
        if (from.code != ZOK) return tell_gap();
        // In front of the letter: what the step has made of the name's node.
        auto const end = from.data.find('\n');
        if (end == std::string::npos) return;
        learn_from(from.data.substr(0, end), stamp_of(from.stat.czxid));
        post([id, body = from.data.substr(end + 1), at = stamp_of(from.stat.czxid)](auto& to) {
            to.on_letter(id, body, at);
        });
    });
    await_letter(id);
    together({{.what = operation::kind::remove, .path = path}}, {});
}

void driver::clear_mail(compare::session_id id) {
    auto const path = paths_.mail(id);
    together(
        {{.what = operation::kind::remove, .path = path}}, [this, id, path](answer const& from) {
            if (from.code != ZNOTEMPTY) return;
            children(path, [this, id, path](answer const& letters) {
                std::vector<operation> all;
                for (auto const& each : letters.names)
                    all.push_back({.what = operation::kind::remove, .path = path + "/" + each});
                all.push_back({.what = operation::kind::remove, .path = path});
                together(std::move(all), {});
            });
        });
}

// What dead clients have left behind. A box is made after its session, so one without it belongs to nobody.
void driver::sweep() {
    children(paths_.all_mail(), [this](answer const& boxes) {
        children(paths_.sessions(), [this, boxes = boxes.names](answer const& alive) {
            if (alive.code != ZOK) return;
            std::set<std::string> const living{alive.names.begin(), alive.names.end()};
            std::size_t done = 0;
            for (auto const& each : boxes)
                if (auto const id = base::parse_hex(each);
                    id && !living.contains(each) && ++done <= most_swept)
                    clear_mail(compare::session_id{*id});
            auto const first = chance_.below(alive.names.size());
            for (std::size_t each = first; each < std::min(first + most_swept, alive.names.size());
                 ++each)
                get(paths_.sessions() + "/" + alive.names[each],
                    [this, name = alive.names[each]](answer const& node) {
                        if (end_of(node) <= base::boot_clock::now())
                            together({{.what = operation::kind::remove,
                                       .path = paths_.sessions() + "/" + name}},
                                     {});
                    });
        });
    });
}

}  // namespace holdfast::stores::zookeeper
