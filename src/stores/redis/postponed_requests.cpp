#include "stores/redis/postponed_requests.hpp"

#include <cstdint>

namespace holdfast::stores::redis {

namespace {

std::uint64_t turn_of(postponed_requests::request const& of) noexcept { return of.what.turn; }

}  // namespace

void postponed_requests::add(question what, base::instant due, std::string words) {
    auto const& about = what.what.piece;
    auto const found = about.named ? named_.find(about.name) : named_.end();
    if (found != named_.end()) {
        auto& same = *found->second;
        // The first one was sent away last, and says when it is worth trying again.
        if (same.requests.empty() || what.turn < turn_of(same.requests.front()))
            same.due = std::max(same.due, due);
        return insert(same, {std::move(what), std::move(words)});
    }
    auto const fresh = groups_.insert(groups_.end(), {.due = due});
    if (about.named) {
        fresh->name = about.name;
        named_.emplace(about.name, fresh);
    }
    insert(*fresh, {std::move(what), std::move(words)});
}

bool postponed_requests::keep_behind(question& what) {
    if (!what.what.piece.named || named_.empty()) return false;
    auto const found = named_.find(what.what.piece.name);
    if (found == named_.end()) return false;
    auto& same = *found->second;
    if (same.requests.empty() || turn_of(same.requests.front()) >= what.turn) return false;
    what.asking = false;  // where it goes is found again
    insert(same, {std::move(what), same.requests.front().words});
    return true;
}

void postponed_requests::insert(group& into, request what) {
    what.what.limit_travel();
    into.due = std::min(into.due, *what.what.travels_until);
    next_due_ = std::min(next_due_, into.due);
    auto const behind = std::ranges::upper_bound(into.requests, turn_of(what), {}, turn_of);
    into.requests.insert(behind, std::move(what));
}

postponed_requests::groups::iterator postponed_requests::remove(groups::iterator which) {
    if (which->name) named_.erase(*which->name);
    return groups_.erase(which);
}

void postponed_requests::clear() noexcept {
    named_.clear();
    groups_.clear();
    next_due_ = base::never;
}

}  // namespace holdfast::stores::redis
