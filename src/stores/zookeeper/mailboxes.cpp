#include "stores/zookeeper/mailboxes.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace holdfast::stores::zookeeper {

namespace {

constexpr std::size_t most_swept = 32;
constexpr std::size_t removed_together = 8;

}  // namespace

void mailboxes::open(compare::session_id id, std::function<void(fault const&)> then) {
    all_.try_emplace(id);
    common_.together({{.what = operation::kind::create, .path = with_.at.mail(id)}},
                     [this, id, then = std::move(then)](answer const& from) {
                         if (!all_.contains(id)) return;
                         if (from.code != ZOK && from.code != ZNODEEXISTS)
                             return then(with_.judged(from));
                         await(id);
                         // Letters are heard of when that was asked for.
                         common_.exists(with_.at.mail(id), [this, id, then](answer const& there) {
                             auto const found = all_.find(id);
                             if (found == all_.end()) return;
                             found->second.open = there.code == ZOK;
                             then(with_.judged(there));
                         });
                     });
}

void mailboxes::close(compare::session_id id) {
    auto const found = all_.find(id);
    if (found == all_.end()) return;
    common_.forget(with_.at.letter(id, found->second.next));
    auto const read = std::move(found->second.read);
    all_.erase(found);
    if (common_.is_connected()) clear(id, read);
}

void mailboxes::tend() {
    if (!common_.is_connected()) return;
    for (auto const& [id, known] : all_)
        if (known.open && !known.hears) await(id);
}

void mailboxes::renew() {
    for (auto& [id, known] : all_)
        known.hears = false;
    tend();
}

void mailboxes::await(compare::session_id id) {
    auto const found = all_.find(id);
    if (found == all_.end()) return;
    auto const path = with_.at.letter(id, found->second.next);
    found->second.hears = true;
    common_.exists_and_watch(
        path, [this, id] { take(id); },
        [this, id, path](answer const& from) {
            if (from.code == ZOK && common_.forget(path)) return take(id);
            auto const known = all_.find(id);
            if (known != all_.end() && from.code != ZOK && from.code != ZNONODE)
                known->second.hears = false;  // asked again when there is a connection
        });
}

// The next one is waited for before this one has come: their numbers are known beforehand.
void mailboxes::take(compare::session_id id) {
    auto const found = all_.find(id);
    if (found == all_.end()) return;
    auto const path = with_.at.letter(id, found->second.next++);
    auto& read = found->second.read;
    read.push_back(path);
    std::vector<std::string> over;
    if (read.size() >= removed_together) over.swap(read);
    common_.get(path, [this, id](answer const& from) {
        if (from.code != ZOK) return common_.tell_gap();
        // In front of the letter: what the step has made of the name's node.
        auto const end = from.data.find('\n');
        if (end == std::string::npos) return;
        auto const written = stamp_of(from.stat.czxid);
        known_.learn_from(std::string_view{from.data}.substr(0, end), written);
        with_.told.letter(id, from.data.substr(end + 1), written);
    });
    await(id);
    if (!over.empty()) remove(over);  // behind the look at the last of them
}

std::vector<operation> mailboxes::removals(std::vector<std::string> const& letters) {
    std::vector<operation> out;
    for (auto const& each : letters)
        out.push_back({.what = operation::kind::remove, .path = each});
    return out;
}

// A write for each would cost the servers as much as the letter did.
void mailboxes::remove(std::vector<std::string> const& letters) {
    common_.together(removals(letters), [this, letters](answer const& from) {
        if (from.code != ZNONODE || letters.size() == 1) return;
        for (auto const& each : letters)  // somebody has removed one of them
            remove({each});
    });
}

// Whoever closes may not be driven any more: in the usual case,
// without letters that nobody has read, one request is enough.
void mailboxes::clear(compare::session_id id, std::vector<std::string> const& read) {
    auto all = removals(read);
    all.push_back({.what = operation::kind::remove, .path = with_.at.mail(id)});
    common_.together(std::move(all), [this, id](answer const& from) {
        if (from.code == ZNOTEMPTY || from.code == ZNONODE) clear_letters(id);
    });
}

void mailboxes::clear_letters(compare::session_id id) {
    auto const path = with_.at.mail(id);
    common_.children(path, [this, path](answer const& letters) {
        if (letters.code != ZOK) return;
        std::vector<operation> all;
        for (auto const& each : letters.names)
            all.push_back({.what = operation::kind::remove, .path = path + "/" + each});
        all.push_back({.what = operation::kind::remove, .path = path});
        common_.together(std::move(all));
    });
}

// A box is made after its session, so one without it belongs to nobody. In as few trips as can be: a client may live for no
// longer than its first lock, and what none of them clears stays for ever.
void mailboxes::sweep() {
    auto const boxes = std::make_shared<std::vector<std::string>>();
    common_.children(with_.at.all_mail(),
                     [boxes](answer& from) { *boxes = std::move(from.names); });
    common_.children(with_.at.sessions(), [this, boxes](answer const& alive) {
        if (alive.code != ZOK) return;
        std::set<std::string> const living{alive.names.begin(), alive.names.end()};
        std::size_t done = 0;
        for (auto const& each : *boxes)
            if (auto const id = base::parse_hex(each);
                id && !living.contains(each) && ++done <= most_swept)
                clear_letters(compare::session_id{*id});
        sweep_ends(alive.names);
    });
}

// Some of those that are over and that nobody looks at.
void mailboxes::sweep_ends(std::vector<std::string> const& sessions) {
    auto const first = with_.chance.below(sessions.size());
    for (std::size_t each = first; each < std::min(first + most_swept, sessions.size()); ++each) {
        auto const path = with_.at.sessions() + "/" + sessions[each];
        common_.get(path, [this, path](answer const& node) {
            if (with_.clock.end_of(node) <= base::boot_clock::now())
                common_.together({{.what = operation::kind::remove, .path = path}});
        });
    }
}

}  // namespace holdfast::stores::zookeeper
