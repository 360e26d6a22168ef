#include "stores/quorum/rounds.hpp"

namespace holdfast::stores::quorum {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

seam::store_time store_time_of(base::instant when) noexcept {
    return seam::store_time{
        std::chrono::duration_cast<std::chrono::microseconds>(when.time_since_epoch())};
}

round& rounds::open(std::optional<seam::request_id> asker, base::instant now,
                    judge_function judge) {
    auto& made = all_[++last_round_];
    made.number = last_round_;
    made.asker = asker;
    made.sent = now;
    made.votes.resize(size());
    made.judge = std::move(judge);
    return made;
}

round* rounds::find(std::uint64_t number) {
    auto const found = all_.find(number);
    return found == all_.end() ? nullptr : &found->second;
}

void rounds::close_if_over(std::uint64_t number) {
    auto const found = all_.find(number);
    if (found != all_.end() && found->second.pending() == 0) all_.erase(found);
}

void rounds::put(std::size_t to, seam::request what, call about, nanoseconds patience,
                 base::instant now) {
    seam::request_id const id{++last_request_};
    about.member = to;
    about.sent = now;
    about.due = now + patience;
    timeouts_.insert({about.due, id});
    calls_.emplace(id, about);
    outgoing_.push_back({to, id, std::move(what)});
}

void rounds::ask(round& of, std::size_t to, seam::request what, nanoseconds patience,
                 base::instant now) {
    of.votes[to].is = vote::state::pending;
    call about{.round = of.number};
    if (!of.ends.empty()) about.ends = of.ends[to].subject.id;
    put(to, std::move(what), about, patience, now);
}

void rounds::ask_all(round& of, seam::request const& what, milliseconds lease, base::instant now) {
    for (std::size_t i = 0; i < size(); ++i)
        ask(of, i, what, members_[i].patience(lease), now);
}

void rounds::ask_for_record(std::size_t to, seam::request what, nanoseconds patience,
                            base::instant now) {
    put(to, std::move(what), {.about_record = true}, patience, now);
}

std::optional<call> rounds::take_call(seam::request_id id) {
    auto const found = calls_.find(id);
    if (found == calls_.end()) return std::nullopt;
    auto const out = found->second;
    timeouts_.erase({out.due, id});
    calls_.erase(found);
    return out;
}

std::vector<call> rounds::take_overdue(base::instant now) {
    std::vector<call> out;
    for (; !timeouts_.empty() && timeouts_.begin()->when <= now;
         timeouts_.erase(timeouts_.begin())) {
        auto const found = calls_.find(timeouts_.begin()->id);
        if (found == calls_.end()) continue;
        out.push_back(found->second);
        // The answer may come yet, and tells how long answers take.
        found->second.round = 0;
        found->second.about_record = false;
    }
    return out;
}

void rounds::cast(call const& about, vote said, base::instant now) {
    auto* const of = find(about.round);
    if (of == nullptr) return;
    auto& by = members_[about.member];
    // A server that has come to be another member meanwhile, or is two of them, is counted once.
    if (said.is == vote::state::answered && of->has_heard(said.clock))
        said = {.is = vote::state::failed,
                .why = {errc::store_unavailable, "its server has answered as another member"}};
    bool const failed = said.is == vote::state::failed;
    said.by_voter = by.state == standing::voting;
    of->votes[about.member] = std::move(said);
    if (failed) {
        by.trouble = of->votes[about.member].why;
        by.failed_at = now;
        if (!of->ends.empty()) by.owed.add(of->ends[about.member], now);
    }
    if (of->judge) of->judge(*of, now);
    close_if_over(about.round);
}

// --- answers -------------------------------------------------------------------------------------

void rounds::reply(seam::request_id to, seam::reply_body body, base::instant now) {
    results_.replies.emplace_back(to, seam::reply{store_time_of(now), std::move(body)});
}

void rounds::answer(round& of, seam::reply_body body, base::instant now) {
    if (!of.asker) return;
    reply(*std::exchange(of.asker, std::nullopt), std::move(body), now);
}

void rounds::answer_at(base::instant when, round& of, seam::reply_body body) {
    if (!of.asker) return;
    kept_back_.emplace(when, std::pair{*std::exchange(of.asker, std::nullopt), std::move(body)});
}

void rounds::on_time(base::instant now) {
    while (!reminders_.empty() && reminders_.begin()->first <= now) {
        auto* const of = find(reminders_.begin()->second);
        reminders_.erase(reminders_.begin());
        if (of != nullptr && of->judge) of->judge(*of, now);
    }
    for (; !kept_back_.empty() && kept_back_.begin()->first <= now;
         kept_back_.erase(kept_back_.begin())) {
        auto& [to, body] = kept_back_.begin()->second;
        reply(to, std::move(body), now);
    }
}

void rounds::fail(seam::request_id to, errc why, std::string words, base::instant now) {
    reply(to, seam::failure{{why, std::move(words)}}, now);
}

nanoseconds rounds::usual_time() const {
    std::vector<nanoseconds> all;
    for (auto const& each : members_)
        if (each.round_trip > nanoseconds::zero()) all.push_back(each.round_trip);
    if (all.empty()) return nanoseconds::zero();
    auto const needed = std::min(majority(), all.size()) - 1;
    std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(needed));
    return all[needed];
}

unheard_ends rounds::ends_under_way(milliseconds longest_lease) const {
    unheard_ends out;
    for (auto const& [id, each] : calls_) {
        if (!each.ends || each.round == 0) continue;
        ++out.count;
        out.patience = std::max(out.patience, members_[each.member].patience(longest_lease));
    }
    return out;
}

// --- no majority ---------------------------------------------------------------------------------

// What is wrong with a member; none when it can be asked.
base::error const* rounds::trouble_of(std::size_t which, round const* of) const {
    auto const& at = members_[which];
    if (of == nullptr) return at.has_vote() ? nullptr : &at.trouble;
    auto const& vote_of = of->votes[which];
    if (vote_of.is == vote::state::answered) return nullptr;
    return vote_of.why ? &vote_of.why : &at.trouble;
}

// What so many members say that the others are no majority, when it is one and the same: a wrong password is one
// everywhere. Else it may be better soon.
std::error_code rounds::common_trouble(round const* of) const {
    std::map<std::error_code, std::size_t> counts;
    for (std::size_t i = 0; i < size(); ++i)
        if (auto const* const trouble = trouble_of(i, of); trouble != nullptr && *trouble)
            ++counts[trouble->code];
    for (auto const& [code, count] : counts)
        if (count > size() - majority()) return code;
    return make_error_code(errc::store_unavailable);
}

seam::failure rounds::no_majority(round const* of) const {
    std::size_t asked = 0;
    std::string reasons;
    for (std::size_t i = 0; i < size(); ++i) {
        auto const* const trouble = trouble_of(i, of);
        if (trouble == nullptr) {
            ++asked;
            continue;
        }
        reasons += "; " + members_[i].address + ": " +
                   (members_[i].state == standing::sitting_out
                        ? "it may have lost its data, and sits out the longest lease"
                    : trouble->text.empty() ? "it has not answered yet"
                                            : trouble->text);
    }
    seam::failure out;
    out.error.code = common_trouble(of);
    out.error.text = "of the " + std::to_string(size()) + " members of the quorum " +
                     std::to_string(asked) + " can be asked, and " + std::to_string(majority()) +
                     " are needed" + reasons;
    return out;
}

void rounds::judge_simply(round& of, base::instant now) {
    if (!of.asker) return;
    if (of.answered() >= majority()) {
        for (auto const& each : of.votes)
            if (each.is == vote::state::answered) return answer(of, each.answer, now);
    }
    if (of.answered() + of.pending() < majority()) answer(of, no_majority(&of), now);
}

}  // namespace holdfast::stores::quorum
