#include "stores/quorum/name_watches.hpp"

#include <algorithm>

namespace holdfast::stores::quorum {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int most_doublings = 6;
constexpr nanoseconds longest_wait = milliseconds{250};
constexpr nanoseconds least_spread = milliseconds{1};

// Whether a member would let somebody in: what is held together leaves room for others.
bool is_free(vote const& of) {
    auto const* const page =
        of.is == vote::state::answered ? std::get_if<seam::page>(&of.answer) : nullptr;
    if (page == nullptr) return false;
    return std::ranges::all_of(page->names, [](seam::listed const& name) {
        return name.kind != lock_kind::lock ||
               std::ranges::all_of(name.holders, [](claim_info const& holder) {
                   return holder.mode == claim_mode::shared;
               });
    });
}

std::size_t count_free(round const& in) {
    return static_cast<std::size_t>(std::ranges::count_if(in.votes, is_free));
}

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
    if (auto const found = watches_.find(what.key.name); found != watches_.end()) {
        due_.erase({found->second.due, found->first});
        watches_.erase(found);
    }
    auto& in = rounds_.open(
        id, now, [this](round& of, base::instant when) { rounds_.judge_simply(of, when); });
    rounds_.ask_all(in, what, longest_lease_, now);
}

void name_watches::watch_again(std::size_t at, base::instant now) {
    for (auto const& [name, watch] : watches_) {
        auto& in = rounds_.open(std::nullopt, now, nullptr);
        rounds_.ask(in, at, seam::watch{watch.key}, members_[at].patience(longest_lease_), now);
    }
}

// --- news ----------------------------------------------------------------------------------------

void name_watches::on_changed(std::size_t from, seam::changed const& what, base::instant now) {
    auto const found = watches_.find(what.key.name);
    if (found == watches_.end()) return;
    found->second.told.insert(from);
    plan(found->first, found->second, now);
}

void name_watches::plan(std::string const& name, name_watch& watch, base::instant now) {
    if (watch.told.size() < rounds_.majority() || watch.due != base::never) return;
    nanoseconds const spread =
        (least_spread + 2 * rounds_.usual_time()) * (1LL << watch.split_votes);
    watch.due = now + below(std::min<nanoseconds>(spread, longest_wait));
    due_.emplace(watch.due, name);
}

void name_watches::on_time(base::instant now) {
    while (!due_.empty() && due_.begin()->first <= now) {
        auto const found = watches_.find(due_.begin()->second);
        due_.erase(due_.begin());
        if (found == watches_.end()) continue;
        found->second.due = base::never;
        found->second.told.clear();
        look(found->second, now);
    }
}

// The members tell of whoever comes and of whoever goes.
void name_watches::look(name_watch const& watch, base::instant now) {
    auto& in =
        rounds_.open(std::nullopt, now,
                     [this, key = watch.key, told = false](round& of, base::instant when) mutable {
                         auto const found = watches_.find(key.name);
                         if (told || found == watches_.end()) return;
                         if (count_free(of) >= rounds_.majority()) {
                             told = true;
                             return rounds_.tell(seam::changed{key});
                         }
                         // Those that are free already say no more: with one that becomes free they may be a majority.
                         if (of.pending() > 0) return;
                         for (std::size_t i = 0; i < of.votes.size(); ++i)
                             if (is_free(of.votes[i])) found->second.told.insert(i);
                         plan(found->first, found->second, when);
                     });
    rounds_.ask_all(in, seam::inspect{.prefix = watch.key.name, .exact = true}, longest_lease_,
                    now);
}

// --- how long to wait ----------------------------------------------------------------------------

nanoseconds name_watches::below(nanoseconds span) {
    return nanoseconds{random_.below(static_cast<std::uint64_t>(span.count()))};
}

void name_watches::on_granted(std::string const& name) {
    if (auto const found = watches_.find(name); found != watches_.end())
        found->second.split_votes = 0;
}

nanoseconds name_watches::time_after_split(std::string const& name, nanoseconds taken) {
    auto const found = watches_.find(name);
    if (found == watches_.end()) return nanoseconds::zero();
    auto& votes = found->second.split_votes;
    votes = std::min(votes + 1, most_doublings);
    auto const once = std::min(std::max(taken, least_spread), longest_wait);
    return once + below(std::min<nanoseconds>(2 * once * (1LL << votes), longest_wait));
}

nanoseconds name_watches::random_wait() {
    return below(
        std::min<nanoseconds>(2 * (least_spread + 2 * rounds_.usual_time()), longest_wait));
}

}  // namespace holdfast::stores::quorum
