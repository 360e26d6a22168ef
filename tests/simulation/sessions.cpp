#include "simulation/sessions.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

// What the rules take for a lease: longer than any run.
constexpr std::chrono::hours for_ever{24 * 365};

}  // namespace

bool sessions::touch(session_ref which) {
    end_overdue();
    if (which.number == 0 || ended_.contains(which.number)) return false;
    auto& one = alive_[which.number];
    one.lease = which.lease;
    extend(one);
    return true;
}

void sessions::extend(session& one) {
    one.touched = world_.store.now();
    auto const until = one.touched + one.lease;
    for (auto const& [id, subject] : one.claims)
        world_.seen.extended(id, until);
    world_.time.at(world_.store.when(until), [this] { end_overdue(); });
}

void sessions::touch_claim(seam::claim_id id) {
    if (auto const found = alive_.find(session_of(id)); found != alive_.end())
        extend(found->second);
}

std::uint64_t sessions::session_of(seam::claim_id id) const {
    auto const found = of_claim_.find(id);
    return found == of_claim_.end() ? 0 : found->second;
}

seam::request sessions::without_leases(seam::request what) {
    if (auto* const submit = std::get_if<seam::submit>(&what)) {
        auto endless = *submit->subject.spec;
        endless.lease = for_ever;
        submit->subject.spec = std::make_shared<seam::claim_spec const>(std::move(endless));
    } else if (auto* const renew = std::get_if<seam::renew>(&what)) {
        for (auto& item : renew->items)
            item.lease = for_ever;
    }
    return what;
}

// The hold is as sure as its session: since that was heard of last.
void sessions::complete(seam::claim_id id, seam::grant& held) const {
    auto const found = alive_.find(session_of(id));
    if (found == alive_.end()) return;
    held.began = found->second.touched;
    held.lease = found->second.lease;
}

void sessions::carried_out(seam::request const& what, session_ref in, seam::reply& answer,
                           notices& pushed) {
    for (auto& each : pushed)
        if (auto* const granted = std::get_if<seam::claim_granted>(&each.what))
            complete(granted->id, granted->held);
    if (auto const* const submit = std::get_if<seam::submit>(&what)) {
        auto const& subject = submit->subject;
        auto* const granted = std::get_if<seam::granted>(&answer.body);
        bool const there = granted != nullptr || std::holds_alternative<seam::queued>(answer.body);
        if (there && session_of(subject.id) == 0) {
            of_claim_[subject.id] = in.number;
            alive_[in.number].claims.emplace(subject.id, subject);
        }
        if (granted != nullptr) complete(subject.id, granted->held);
    } else if (auto const* const renew = std::get_if<seam::renew>(&what)) {
        for (auto const& item : renew->items)
            touch_claim(item.subject.id);
        auto* const renewed = std::get_if<seam::renewed>(&answer.body);
        for (std::size_t i = 0; renewed != nullptr && i < renewed->items.size(); ++i)
            complete(renew->items[i].subject.id, renewed->items[i].held);
    } else if (auto const* const convert = std::get_if<seam::convert>(&what)) {
        if (auto* const converted = std::get_if<seam::converted>(&answer.body))
            complete(convert->subject.id, converted->held);
    } else if (auto const* const settle = std::get_if<seam::settle>(&what)) {
        if (auto const found = alive_.find(session_of(settle->subject.id)); found != alive_.end())
            found->second.claims.erase(settle->subject.id);
        of_claim_.erase(settle->subject.id);
    }
}

void sessions::end_overdue() {
    auto const now = world_.store.now();
    std::vector<std::uint64_t> over;
    for (auto const& [number, one] : alive_)
        if (one.touched + one.lease <= now) over.push_back(number);
    for (auto const number : over)
        end(number, store_end::expired);
}

void sessions::end_one(std::uint64_t draw) {
    if (alive_.empty()) return;
    auto const skip = static_cast<std::ptrdiff_t>(draw % alive_.size());
    end(std::next(alive_.begin(), skip)->first, store_end::evicted);
}

void sessions::end(std::uint64_t number, store_end how) {
    auto const found = alive_.find(number);
    if (found == alive_.end()) return;
    auto const claims = std::move(found->second.claims);
    alive_.erase(found);
    ended_.insert(number);
    world_.note([&] { return "session " + std::to_string(number) + " ends at the store"; });
    std::vector<seam::claim> order;  // those who wait first: none of them is let in to end at once
    for (auto const& [id, subject] : claims)
        order.push_back(subject);
    std::ranges::stable_partition(
        order, [&](seam::claim const& each) { return world_.seen.waiting(each.id); });
    for (auto const& subject : order) {
        of_claim_.erase(subject.id);
        seam::settle last;
        last.subject = subject;
        notices pushed;
        (void)apply_(last, pushed);
        for (auto& each : pushed)
            if (auto* const granted = std::get_if<seam::claim_granted>(&each.what))
                complete(granted->id, granted->held);
        world_.seen.ended_with_session(subject.id, how, pushed);
        push_(std::move(pushed));
    }
}

void sessions::forget_all() {
    for (auto const& [number, one] : alive_)
        ended_.insert(number);
    alive_.clear();
    of_claim_.clear();
}

}  // namespace holdfast::simulation
