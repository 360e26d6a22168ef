// What any answer tells of the server that gave it: its clock, and which server it is.
#include <algorithm>
#include <utility>

#include "stores/quorum/membership.hpp"

namespace holdfast::stores::quorum {

void membership::learn(std::size_t about, base::instant sent, seam::reply const& answer,
                       base::instant now) {
    auto& of = members_[about];
    bool const failed = std::holds_alternative<seam::failure>(answer.body);
    if (auto const* const twin = failed ? nullptr : twin_of(about, answer.clock))
        return refuse(about, *twin, now);
    bool const another = of.clock && answer.clock != of.clock->clock &&
                         (!failed || answer.clock != seam::clock_id{});
    if (another) {  // another server answers, or the same began anew: what it knows has to be seen
        of.clock.reset();
        if (of.state != standing::asked) of.state = standing::unknown;
        of.looks = 0;
    }
    if (failed) {
        if (of.state == standing::unknown) prepare(about, now);
        return;
    }
    of.measure(now - sent);
    if (!of.clock || of.clock->sent <= sent) of.clock = {sent, now, answer.now, answer.clock};
    if (of.state == standing::down) of.state = standing::unknown;
    if (of.state == standing::unknown) prepare(about, now);
}

// The other member at which the server answers that has this clock.
member const* membership::twin_of(std::size_t about, seam::clock_id clock) const {
    auto const found = std::ranges::find_if(members_, [&](member const& each) {
        return &each != &members_[about] && each.clock && each.clock->clock == clock;
    });
    return found == members_.end() || clock == seam::clock_id{} ? nullptr : &*found;
}

// One server under two names would have two votes, and be a majority of three. It may be a name that is put right.
void membership::refuse(std::size_t about, member const& twin, base::instant now) {
    auto& of = members_[about];
    of.clock.reset();
    of.state = standing::disagreeing;
    of.looks = 0;
    of.doubted = false;
    of.is_another = true;
    of.trouble = {errc::bad_url,
                  "the members " + twin.address + " and " + of.address +
                      " of the store URL are one server, or cannot be told apart: each has one "
                      "vote, and must be a server of its own"};
    of.disagreement = of.trouble;
    of.failed_at = now;
    of.look_at = now + ask_mistaken_again;
    judge_hellos(now);
}

void membership::doubt(std::size_t about, base::instant now) {
    auto& of = members_[about];
    if (of.state != standing::voting && of.state != standing::sitting_out) return;
    of.doubted = true;
    of.voted = of.state == standing::voting;
    of.state = standing::unknown;
    prepare(about, now);
}

// Also where the others are a majority: they all had to be alive, and nobody would know why.
base::error const* membership::doubling() const {
    auto const found = std::ranges::find_if(members_, &member::is_another);
    return found == members_.end() ? nullptr : &*found->disagreement;
}

}  // namespace holdfast::stores::quorum
