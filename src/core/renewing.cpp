// The engine's part that sends renewals: in batches, by lanes, a bounded number at once.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Claims in one renewal: large enough to be cheap, small enough not to stall a store for others.
constexpr std::size_t batch_size = 512;

constexpr milliseconds shortest_answer{20};

}  // namespace

// It goes when its turn comes: in each lane a bounded number of renewals is under way.
void engine::want_renewal(claim_state& claim, base::instant now) {
    if (claim.waits_to_renew()) return;
    if (claim.silent_since == base::never) claim.silent_since = now;
    claim.asking = true;
    claim.answer_by = base::never;  // set when it is sent
    renewals_.add(lane_of(claim.terms->spec->name), wish_of(claim, now));
    reschedule(claim);
}

renewal_window::wish engine::wish_of(claim_state const& claim, base::instant now) const {
    // Who only waits has no deadline, but the store forgets it when its lease is over.
    auto const deadline =
        claim.at() == claim_phase::waiting ? now + claim.lease / 3 : claim.lost_at();
    return {deadline, claim.subject.id.number, answer_time(claim)};
}

// A sixth of the lease: enough tries fit between the first renewal and the loss.
nanoseconds engine::answer_time(claim_state const& claim) const {
    auto const lease = judge_->sure_lease(claim.lease, claim.lease_given);
    return std::clamp<nanoseconds>(nanoseconds{lease - claim.terms->grace} / 6, shortest_answer,
                                   set_.request_timeout);
}

void engine::send_renewals(base::instant now) {
    for (std::size_t i = 0; i < renewals_.lanes(); ++i) {
        auto const lane = static_cast<seam::lane_id>(i);
        while (renewals_.next_place(lane) <= now) {
            auto const next = next_batch(lane);
            if (next.empty()) continue;
            send_renewal(lane, next, now, renewals_.enter(lane, now));
        }
    }
    schedule(renewals_timer_, renewals_.next_place());
}

// The most urgent ones of those that still want it. A name that has moved meanwhile goes where it is.
std::vector<claim_state*> engine::next_batch(seam::lane_id lane) {
    std::vector<claim_state*> out;
    while (out.size() < batch_size) {
        auto const next = renewals_.pop(lane);
        if (!next) break;
        auto* const claim = find(next->claim);
        if (claim == nullptr || !claim->waits_to_renew()) continue;
        if (lane_of(claim->terms->spec->name) != lane) {
            renewals_.add(lane_of(claim->terms->spec->name), *next);
            continue;
        }
        out.push_back(claim);
    }
    return out;
}

void engine::send_renewal(seam::lane_id lane, std::span<claim_state* const> claims,
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
        reschedule(*claim);
    }
    request.answer_within = std::chrono::ceil<milliseconds>(soonest - now);
    send({.purpose = purpose::renew,
          .sent = now,
          .subject = place,
          .lane = lane,
          .batch = std::move(batch)},
         std::move(request));
}

// An attempt of a retry policy that is under way stays one: whichever answer comes first is its.
void engine::renew_now(claim_state& claim, base::instant now) {
    want_renewal(claim, now);
    send_renewals(now);
}

}  // namespace holdfast::core
