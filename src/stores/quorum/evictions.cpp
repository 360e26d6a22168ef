#include "stores/quorum/evictions.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "stores/quorum/eviction.hpp"

namespace holdfast::stores::quorum {

namespace {

// Readers may be many. A member that is asked for too much at once is too slow for the last of it.
constexpr std::size_t ended_at_once = 32;

// Also those of a minority: they may have been left behind, and are in the way.
std::vector<seam::claim_id> seen_holders(round const& in) {
    std::set<seam::claim_id> out;
    for (auto const& each : in.votes) {
        auto const* const page =
            each.is == vote::state::answered ? std::get_if<seam::page>(&each.answer) : nullptr;
        if (page == nullptr) continue;
        for (auto const& name : page->names)
            for (auto const& holder : name.holders)
                if (auto const id = seam::parse_claim_id(holder.id)) out.insert(*id);
    }
    return {out.begin(), out.end()};
}

}  // namespace

struct evictions::run {
    seam::request_id asker{};
    seam::evict what;
    std::vector<seam::claim_id> left{};
    std::size_t under_way{0};           ///< that no majority has answered for
    std::size_t open{0};                ///< that some member may answer for yet
    std::vector<std::size_t> counts{};  ///< at each member
    std::optional<seam::failure> why{};
};

void evictions::evict(seam::request_id id, seam::evict const& what, base::instant now) {
    auto const all = std::make_shared<run>(run{.asker = id, .what = what});
    all->counts.resize(rounds_.size());
    if (what.only) {
        all->left = {*what.only};
        return end_next(all, now);
    }
    auto& in = rounds_.open(std::nullopt, now, [this, all](round& of, base::instant when) {
        if (of.pending() > 0) return;
        if (of.answered() < rounds_.majority())
            return rounds_.reply(all->asker, rounds_.no_majority(&of), when);
        all->left = seen_holders(of);
        end_next(all, when);
    });
    ask_all(in, seam::inspect{.prefix = what.name, .exact = true}, now);
}

// A member that hears of it later than that may find the claim given back to the others.
void evictions::ask_all(round& in, seam::request const& what, base::instant now) {
    for (std::size_t i = 0; i < rounds_.size(); ++i)
        rounds_.ask(in, i, what,
                    std::min(members_[i].patience(longest_lease_), eviction_span(longest_lease_)),
                    now);
}

// One that is silent is not waited for before the next claim is ended, but before the answer is given.
void evictions::end_next(std::shared_ptr<run> const& of, base::instant now) {
    while (!of->left.empty() && of->under_way < ended_at_once && !of->why)
        end_one(of, now);
    if (of->open > 0) return;
    if (of->why) return rounds_.reply(of->asker, *of->why, now);
    rounds_.reply(of->asker, seam::evicted{std::ranges::max(of->counts)}, now);
}

void evictions::end_one(std::shared_ptr<run> const& of, base::instant now) {
    auto what = of->what;
    what.only = of->left.back();
    of->left.pop_back();
    ++of->under_way;
    ++of->open;
    auto& in = rounds_.open(
        std::nullopt, now, [this, of, decided = false](round& by, base::instant when) mutable {
            bool const over = by.pending() == 0;
            if ((over || by.answered() >= rounds_.majority()) && !std::exchange(decided, true))
                --of->under_way;
            if (over) {
                --of->open;
                if (by.answered() < rounds_.majority()) of->why = rounds_.no_majority(&by);
                for (std::size_t i = 0; i < by.votes.size(); ++i)
                    if (auto const* const some = std::get_if<seam::evicted>(&by.votes[i].answer);
                        some != nullptr && by.votes[i].is == vote::state::answered)
                        of->counts[i] += some->count;
            }
            end_next(of, when);
        });
    ask_all(in, what, now);
}

}  // namespace holdfast::stores::quorum
