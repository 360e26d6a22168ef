#include "stores/quorum/membership.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::stores::quorum {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds record_patience{1000};  // it may have to be connected to first
constexpr milliseconds hello_patience{1500};
constexpr milliseconds ask_down_again{200};
// Another client may be about to give records to members that are all new.
constexpr milliseconds look_twice{300};
constexpr std::chrono::hours record_kept{24 * 366 * 10};

bool is_of_another_quorum(member const& each) { return each.disagreement.has_value(); }

// Also while it is looked at again.
bool lacks_record(member const& each) {
    return each.looks > 0 && (each.state == standing::missing || each.state == standing::asked);
}

}  // namespace

std::size_t membership::voters() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(members_, [](member const& each) { return each.has_vote(); }));
}

// Members without a record get none while one disagrees, so that they are no more help than that one.
base::error const* membership::disagreement() const {
    auto const found = std::ranges::find_if(members_, is_of_another_quorum);
    if (found == members_.end()) return nullptr;
    auto const stuck =
        static_cast<std::size_t>(std::ranges::count_if(members_, [](member const& each) {
            return is_of_another_quorum(each) || lacks_record(each);
        }));
    return rounds_.size() - stuck < rounds_.majority() ? &*found->disagreement : nullptr;
}

// --- time ----------------------------------------------------------------------------------------

void membership::greet(seam::request_id id, base::instant now) {
    hellos_.push_back({id, now});
    auto& in =
        rounds_.open(std::nullopt, now, [this](round&, base::instant when) { judge_hellos(when); });
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        if (members_[i].has_vote())
            rounds_.ask(in, i, seam::hello{}, members_[i].patience(agreed_.longest_lease), now);
        else
            prepare(i, now);
    }
    rounds_.close_if_over(in.number);
    judge_hellos(now);
}

// Whether a majority can be asked, and nobody else is about to be known.
bool membership::is_settled(base::instant now, base::instant since) const {
    std::size_t fresh = 0;
    std::size_t open = 0;
    for (auto const& each : members_) {
        bool const waits = each.state == standing::asked ||
                           (each.state == standing::missing && each.look_at != base::never);
        if (each.has_vote() && each.clock->received >= since) ++fresh;
        bool const stale = each.has_vote() && each.clock->received < since;
        if (waits || (stale && each.failed_at < since)) ++open;
    }
    if (fresh >= rounds_.majority()) return open == 0 || now >= since + hello_grace;
    return open == 0 || now >= since + hello_patience;
}

void membership::judge_hellos(base::instant now) {
    std::vector<waiting_hello> waiting;
    for (auto& each : std::exchange(hellos_, {})) {
        if (auto const* const same = doubling()) {
            rounds_.reply(each.id, seam::failure{*same}, now);
        } else if (!is_settled(now, each.since)) {
            auto const grace = each.since + hello_grace;
            each.look_at = now < grace ? grace : each.since + hello_patience;
            waiting.push_back(each);
        } else if (voters() >= rounds_.majority()) {
            rounds_.reply(each.id, seam::done{}, now);
        } else if (auto const* const other = disagreement()) {
            rounds_.reply(each.id, seam::failure{*other}, now);
        } else {
            rounds_.reply(each.id, rounds_.no_majority(nullptr), now);
        }
    }
    hellos_ = std::move(waiting);
}

// --- records -------------------------------------------------------------------------------------

void membership::prepare(std::size_t which, base::instant now) {
    auto& of = members_[which];
    bool const wants = of.state == standing::unknown ||
                       (of.state == standing::missing && of.look_at <= now) ||
                       (of.state == standing::down && of.look_at <= now);
    if (!wants) return;
    of.state = standing::asked;
    of.look_at = base::never;
    rounds_.ask_for_record(which, seam::read{record_key()}, record_patience, now);
}

void membership::prepare_all(base::instant now) {
    for (std::size_t i = 0; i < rounds_.size(); ++i)
        prepare(i, now);
}

void membership::on_record_reply(std::size_t from, seam::reply const& answer, base::instant now) {
    auto& of = members_[from];
    if (of.state != standing::asked) return;
    if (auto const* const failed = std::get_if<seam::failure>(&answer.body)) {
        of.state = standing::down;
        of.disagreement.reset();
        of.is_another = false;
        of.trouble = failed->error;
        of.failed_at = now;
        of.look_at = now + ask_down_again;
    } else if (auto const* const found = std::get_if<seam::cell>(&answer.body)) {
        on_record(from, *found, now);
    } else {  // it was given one, or another client did so first: read what is there
        of.state = standing::unknown;
        of.looks = 0;
        prepare(from, now);
    }
    judge_hellos(now);
}

void membership::on_record(std::size_t of, seam::cell const& found, base::instant now) {
    auto& at = members_[of];
    at.doubted = false;
    at.disagreement.reset();
    at.is_another = false;
    if (found.version == 0) return on_missing_record(of, now);
    auto const record = read_record(found.value);
    if (!record || record->agreed != agreed_) {
        at.state = standing::disagreeing;
        at.trouble = {errc::limit_mismatch,
                      record ? disagreement_text(at.address, record->agreed, agreed_)
                             : "the server " + at.address +
                                   " has a record of its quorum that cannot be read"};
        at.disagreement = at.trouble;
        at.look_at = now + ask_mistaken_again;
        return;
    }
    knew_records_ = true;
    if (record->clock != at.clock->clock && judge_.sits_out())
        return write_record(of, found.version, true, now);
    set_standing(of, record->votes_from, now);
}

// All of them without a record are a new quorum, in which nobody holds anything; unless this client knew one. One alone
// has lost its data.
void membership::on_missing_record(std::size_t of, base::instant now) {
    auto& at = members_[of];
    at.state = standing::missing;
    at.trouble = {errc::store_unavailable, "it has lost its data, or is new"};
    ++at.looks;
    bool const all = std::ranges::all_of(
        members_, [](member const& each) { return each.state == standing::missing; });
    if (all || !judge_.sits_out()) {
        for (std::size_t i = 0; i < rounds_.size(); ++i)
            if (members_[i].state == standing::missing)
                write_record(i, 0, knew_records_ && judge_.sits_out(), now);
    } else if (at.looks > 1 && may_give_record()) {
        write_record(of, 0, true, now);
    } else {
        at.look_at = now + look_twice;
    }
}

// Who names other servers than all the rest must not make a member of any of them: none says that it belongs to another
// quorum, and one says that it belongs to this, or most of them could be new.
bool membership::may_give_record() const {
    if (std::ranges::any_of(members_, is_of_another_quorum)) return false;
    // One that has not been heard of yet may be as new, and only slower.
    if (std::ranges::any_of(members_, [](member const& each) {
            return each.state == standing::asked && !each.clock &&
                   each.failed_at == base::instant::min();
        }))
        return false;
    auto const missing = static_cast<std::size_t>(std::ranges::count_if(
        members_, [](member const& each) { return each.state == standing::missing; }));
    return knew_records_ || missing >= rounds_.majority();
}

void membership::write_record(std::size_t of, std::uint64_t version, bool sits_out,
                              base::instant now) {
    auto& at = members_[of];
    at.state = standing::asked;
    at.look_at = base::never;
    member_record record{.agreed = agreed_, .clock = at.clock->clock};
    // By its own clock, from the latest that it may show: all leases that it gave are over then, and all ballots behind
    // it that it granted.
    if (sits_out)
        record.votes_from = at.latest_time(now) + agreed_.longest_lease +
                            2 * agreed_.longest_lease / drift + ballot_lead;
    rounds_.ask_for_record(of,
                           seam::swap{.key = record_key(),
                                      .expected = version,
                                      .value = write(record),
                                      .ttl = record_kept,
                                      .operation = {self_, ++last_operation_}},
                           record_patience, now);
}

void membership::set_standing(std::size_t of, seam::store_time votes_from, base::instant now) {
    auto& at = members_[of];
    at.votes_from = votes_from;
    at.looks = 0;
    auto const left = votes_from - at.earliest_time(now);
    bool const votes = left <= seam::store_clock::duration::zero() || !judge_.sits_out();
    at.state = votes ? standing::voting : standing::sitting_out;
    at.look_at = votes ? base::never : now + left + left / drift + milliseconds{1};
}

void membership::on_time(base::instant now) {
    look_again(now);
    judge_hellos(now);
}

base::instant membership::next_time() const {
    auto out = base::never;
    for (auto const& each : members_)
        out = std::min(out, each.look_at);
    for (auto const& each : hellos_)
        out = std::min(out, each.look_at);
    return out;
}

void membership::look_again(base::instant now) {
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        auto& each = members_[i];
        if (each.look_at > now) continue;
        switch (each.state) {
        case standing::sitting_out: set_standing(i, each.votes_from, now); break;
        case standing::missing:
        case standing::down: prepare(i, now); break;
        case standing::disagreeing:
            each.state = standing::unknown;
            prepare(i, now);
            break;
        default: each.look_at = base::never;
        }
    }
}

}  // namespace holdfast::stores::quorum
