#include "stores/quorum/name_watches.hpp"

#include <algorithm>

namespace holdfast::stores::quorum {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int most_doublings = 6;

}  // namespace

void name_watches::watch(seam::request_id id, seam::watch const& what, base::instant now) {
    if (what.key.part != seam::holders_part || what.key.kind != lock_kind::lock)
        return rounds_.fail(id, errc::unsupported, "a quorum has nothing but locks to watch", now);
    watches_[what.key.name].key = what.key;
    auto& in = rounds_.open(
        id, now, [this](round& of, base::instant when) { rounds_.judge_simply(of, when); });
    rounds_.ask_all(in, what, longest_lease_, now);
}

void name_watches::unwatch(seam::request_id id, seam::unwatch const& what, base::instant now) {
    watches_.erase(what.key.name);
    auto& in = rounds_.open(
        id, now, [this](round& of, base::instant when) { rounds_.judge_simply(of, when); });
    rounds_.ask_all(in, what, longest_lease_, now);
}

// All who wait hear of it at once, and all at once are a split vote. So it is passed on late and at random, the later the
// more votes were split; and not before a majority may be free.
void name_watches::on_changed(std::size_t from, seam::changed const& what, base::instant now) {
    auto const found = watches_.find(what.key.name);
    if (found == watches_.end()) return;
    auto& watch = found->second;
    watch.told.insert(from);
    if (watch.told.size() < rounds_.majority() || watch.due != base::never) return;
    nanoseconds slowest{0};
    for (auto const& each : members_)
        slowest = std::max(slowest, each.round_trip);
    nanoseconds const spread = (milliseconds{1} + 2 * slowest) * (1LL << watch.split_votes);
    watch.due = now + nanoseconds{random_.below(static_cast<std::uint64_t>(spread.count()))};
}

void name_watches::on_time(base::instant now) {
    for (auto& [name, watch] : watches_) {
        if (watch.due > now) continue;
        watch.due = base::never;
        watch.told.clear();
        rounds_.tell(seam::changed{watch.key});
    }
}

void name_watches::note_vote(std::string const& name, bool split) {
    auto const found = watches_.find(name);
    if (found == watches_.end()) return;
    auto& votes = found->second.split_votes;
    votes = split ? std::min(votes + 1, most_doublings) : 0;
}

base::instant name_watches::next_time() const {
    auto out = base::never;
    for (auto const& [name, each] : watches_)
        out = std::min(out, each.due);
    return out;
}

void name_watches::watch_again(std::size_t at, base::instant now) {
    for (auto const& [name, watch] : watches_) {
        auto& in = rounds_.open(std::nullopt, now, nullptr);
        rounds_.ask(in, at, seam::watch{watch.key}, members_[at].patience(longest_lease_), now);
    }
}

}  // namespace holdfast::stores::quorum
