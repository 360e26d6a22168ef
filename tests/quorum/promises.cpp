#include "quorum/promises.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::quorum_tests {

namespace {

using namespace std::chrono_literals;

// What a client holds, and what it keeps taken after its release, are two holds.
constexpr std::size_t kept = 1'000'000;

// So long an answer that tells of a grant may have been under way.
constexpr nanos longest_way = 4s;

bool are_one_hold(promises::grant const& a, promises::grant const& b) {
    return !a.owner.empty() && a.owner == b.owner;
}

}  // namespace

void promises::violate(std::string words) {
    if (broken_.empty()) broken_ = std::move(words);
}

void promises::judge_beside_others(history& of, std::size_t place, char const* words, nanos now) {
    auto const& mine = of.holds.at(place);
    if (mine.evicted || mine.what.until <= now) return;
    for (auto const& [other, each] : of.holds) {
        bool const may =
            (each.what.shared && mine.what.shared) || are_one_hold(each.what, mine.what);
        if (other == place || may || each.evicted || each.what.until <= now) continue;
        violate("client " + std::to_string(mine.what.holder) + words + mine.what.name +
                ", and so does client " + std::to_string(each.what.holder) +
                (other >= kept ? ", which keeps it taken" : ""));
    }
}

void promises::judge_token(history& of, grant const& what) {
    auto const above = what.shared ? of.highest_exclusive : of.highest;
    bool const joins = !what.owner.empty() && what.owner == of.last_owner && what.token == above;
    if (judges_tokens_ && what.token <= above && !joins)
        violate("the token " + std::to_string(what.token) + " of " + what.name + " is not above " +
                std::to_string(above));
    if (what.token >= of.highest) of.last_owner = what.owner;
    of.highest = std::max(of.highest, what.token);
    if (!what.shared) of.highest_exclusive = what.token;
}

void promises::on_granted(grant const& what, nanos now) {
    auto& of = names_[what.name];
    of.holds[what.holder] = {what, of.evictions > 0 || now < of.evicted_until};
    judge_beside_others(of, what.holder, " holds ", now);
    judge_token(of, what);
}

void promises::on_renewed(std::size_t holder, std::string const& name, nanos until, nanos now) {
    auto& of = names_[name];
    auto const found = of.holds.find(holder);
    if (found == of.holds.end()) return;
    found->second.what.until = until;
    judge_beside_others(of, holder, " goes on holding ", now);
}

void promises::on_downgraded(std::size_t holder, std::string const& name) {
    auto& of = names_[name];
    if (auto const found = of.holds.find(holder); found != of.holds.end())
        found->second.what.shared = true;
}

void promises::on_ended(std::size_t holder, std::string const& name) {
    names_[name].holds.erase(holder);
}

void promises::on_kept(grant const& what, nanos now) {
    auto& of = names_[what.name];
    auto const place = kept + what.holder;
    of.holds[place] = {what, of.evictions > 0 || now < of.evicted_until};
    judge_beside_others(of, place, " keeps ", now);
}

void promises::on_evicting(std::string const& name) {
    auto& of = names_[name];
    ++of.evictions;
    for (auto& [place, each] : of.holds)
        each.evicted = true;
}

void promises::on_evicted(std::string const& name, nanos now) {
    auto& of = names_[name];
    --of.evictions;
    of.evicted_until = std::max(of.evicted_until, now + longest_way);
}

}  // namespace holdfast::quorum_tests
