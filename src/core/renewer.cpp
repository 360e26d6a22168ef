// The part of the engine that sends renewals: in batches, by lanes, a bounded number at once.
#include "core/renewer.hpp"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/engine_parts.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Claims in one renewal: large enough to be cheap, small enough not to stall a store for others.
constexpr std::size_t batch_size = 512;

constexpr milliseconds shortest_answer{20};

}  // namespace

// It goes when its turn comes: in each lane a bounded number of renewals is under way.
void renewer::want(claim_state& claim, base::instant now) {
    if (!claim.waits_to_renew()) add(claim, wish_of(claim, now), now);
}

void renewer::want_all(std::span<claim_state* const> by_age, base::instant now) {
    std::unordered_map<std::string_view, renewal_window::wish> most_urgent;  // of the younger ones
    for (auto* const claim : by_age | std::views::reverse) {
        if (claim->at() != claim_phase::waiting) {
            want(*claim, now);
            continue;
        }
        auto wish = wish_of(*claim, now);
        bool const stands = claim->waits_to_renew();
        if (stands) wish.deadline = claim->turn_by;
        auto& younger = most_urgent.try_emplace(claim->terms->spec->name, wish).first->second;
        wish.deadline = std::min(wish.deadline, younger.deadline);
        wish.answer_time = std::min(wish.answer_time, younger.answer_time);
        younger = wish;
        if (!stands || wish.deadline < claim->turn_by) add(*claim, wish, now);
    }
}

void renewer::add(claim_state& claim, renewal_window::wish const& wish, base::instant now) {
    if (claim.silent_since == base::never) claim.silent_since = now;
    claim.asking = true;
    claim.answer_by = base::never;  // set when it is sent
    claim.turn_by = wish.deadline;
    window_.add(shared_.lane_of(claim.terms->spec->name), wish);
    parts_.timing.reschedule(claim);
}

renewal_window::wish renewer::wish_of(claim_state const& claim, base::instant now) const {
    // Who only waits has no deadline, but the store forgets it when its lease is over.
    auto const deadline =
        claim.at() == claim_phase::waiting ? now + claim.lease / 3 : claim.lost_at();
    return {deadline, claim.subject.id.number, answer_time(claim)};
}

// A sixth of the lease: enough tries fit between the first renewal and the loss.
nanoseconds renewer::answer_time(claim_state const& claim) const {
    auto const lease = shared_.judge->sure_lease(claim.lease, claim.lease_given);
    return std::clamp<nanoseconds>(nanoseconds{lease - claim.terms->grace} / 6, shortest_answer,
                                   shared_.settings.request_timeout);
}

void renewer::send_due(base::instant now) {
    for (std::size_t i = 0; i < window_.lanes(); ++i) {
        auto const lane = static_cast<seam::lane_id>(i);
        while (window_.next_place(lane) <= now) {
            auto const next = next_batch(lane);
            if (next.empty()) continue;
            send_batch(lane, next, now, window_.enter(lane, now));
        }
    }
    shared_.schedule(timer_, window_.next_place());
}

// The most urgent ones of those that still want it. A name that has moved meanwhile goes where it is.
std::vector<claim_state*> renewer::next_batch(seam::lane_id lane) {
    std::vector<claim_state*> out;
    while (out.size() < batch_size) {
        auto const next = window_.pop(lane);
        if (!next) break;
        auto* const claim = parts_.claims.find(next->claim);
        if (claim == nullptr || !claim->waits_to_renew()) continue;
        if (auto const home = shared_.lane_of(claim->terms->spec->name); home != lane) {
            window_.add(home, *next);
            continue;
        }
        claim->answer_by = shared_.now;  // it waits no longer, also where it stands here twice
        out.push_back(claim);
    }
    return out;
}

void renewer::send_batch(seam::lane_id lane, std::span<claim_state* const> claims,
                         base::instant now, std::uint64_t place) {
    seam::renew request{.items = {}, .lane = lane};
    std::vector<renewed_claim> batch;
    request.items.reserve(claims.size());
    batch.reserve(claims.size());
    auto soonest = base::never;
    for (auto* const claim : claims) {
        request.items.push_back({claim->subject, claim->lease});
        batch.push_back({claim->subject.id.number, claim->lease});
        claim->lane = lane;
        claim->asking = true;
        claim->answer_by = now + answer_time(*claim);
        soonest = std::min(soonest, claim->answer_by);
        parts_.timing.reschedule(*claim);
    }
    request.answer_within = std::chrono::ceil<milliseconds>(soonest - now);
    shared_.send({.purpose = request_purpose::renew,
                  .sent = now,
                  .subject = place,
                  .lane = lane,
                  .batch = std::move(batch)},
                 std::move(request));
}

void renewer::send_alone(claim_state& claim, base::instant now) {
    if (claim.silent_since == base::never) claim.silent_since = now;
    auto* const one = &claim;
    send_batch(shared_.lane_of(claim.terms->spec->name), {&one, 1}, now);
}

// An attempt of a retry policy that is under way stays one: whichever answer comes first is its.
void renewer::renew_now(claim_state& claim, base::instant now) {
    want(claim, now);
    send_due(now);
}

}  // namespace holdfast::core
