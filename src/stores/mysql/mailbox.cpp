#include "stores/mysql/mailbox.hpp"

#include <algorithm>
#include <utility>

#include "stores/mysql/statements.hpp"

namespace holdfast::stores::mysql {

namespace {

using namespace std::chrono_literals;

// Between two questions: while something is waited for, and while there is only a session.
constexpr std::chrono::milliseconds shortest_pause = 2ms;
constexpr std::chrono::milliseconds longest_pause = 50ms;
constexpr std::chrono::milliseconds idle_pause = 250ms;
constexpr std::chrono::milliseconds after_trouble = 500ms;
constexpr std::uint64_t most_turns = 8;  ///< whoever is further back asks as if it were the eighth
constexpr std::size_t most_read = 16;    ///< letters that are left in the table for a time
/// A letter may be read so long after the end of its session by our own clock.
constexpr std::chrono::seconds after_end{5};

}  // namespace

// --- what is expected --------------------------------------------------------------------------

void mailbox::expect_letters(compare::session_id id, std::chrono::milliseconds lease) {
    own_[id] = {lease, now_ + lease + after_end};
    ask_at_ = std::min(ask_at_, now_);
}

void mailbox::prolong(compare::session_id id) {
    auto const known = own_.find(id);
    if (known == own_.end()) return;
    known->second.until = now_ + known->second.lease + after_end;
    ask_at_ = std::min(ask_at_, now_);
}

// Numbers of letters may begin anew, where the tables were.
void mailbox::forget(compare::session_id id) {
    own_.erase(id);
    std::erase_if(read_, [id](auto const& each) { return each.second.to == id; });
}

void mailbox::was_seen(compare::name_key const& key, compare::stamp seen) {
    auto const known = watched_.find(key);
    if (known != watched_.end() && !known->second) known->second = seen;
    hasten();
}

void mailbox::hasten() {
    waiting_ = true;
    pause_ = shortest_pause;
    ask_at_ = std::min(ask_at_, now_ + shortest_pause);
}

std::vector<compare::session_id> mailbox::addresses() const {
    std::vector<compare::session_id> out;
    for (auto const& [id, known] : own_)
        if (now_ < known.until) out.push_back(id);
    return out;
}

// --- asking ------------------------------------------------------------------------------------

std::string mailbox::question() const {
    return packets::mail(addresses(), letters_in_table(), false, {});
}

void mailbox::tend() {
    if (now_ < ask_at_ || asking_) return;
    auto const to = addresses();
    std::vector<compare::name_key> asked;
    for (auto const& [key, seen] : watched_)
        if (seen) asked.push_back(key);
    ask_at_ = base::never;
    if (to.empty() && asked.empty()) return;
    asking_ = true;
    // What was read is removed along with others, since that is a write of its own.
    auto const known = letters_in_table();
    bool const remove = known.size() >= most_read || !waiting_;
    around_.send(packets::mail(to, known, remove, asked),
                 [this, asked, known, remove](answer const& found) {
                     asking_ = false;
                     if (found.lost || found.error != 0) {
                         ask_at_ = now_ + (around_.is_up() ? longest_pause : after_trouble);
                         return;
                     }
                     if (remove) were_removed(known);
                     on_answer(found, asked);
                 });
}

std::vector<std::uint64_t> mailbox::letters_in_table() const {
    std::vector<std::uint64_t> out;
    for (auto const& [id, letter] : read_)
        if (letter.until == base::never) out.push_back(id);
    return out;
}

void mailbox::were_removed(std::vector<std::uint64_t> const& letters) {
    std::erase_if(read_, [this](auto const& each) { return each.second.until < now_; });
    for (auto const id : letters)
        if (auto const known = read_.find(id); known != read_.end())
            known->second.until = now_ + around_.timeout + after_trouble;
}

// --- what comes --------------------------------------------------------------------------------

bool mailbox::deliver(std::vector<row> const& found) {
    bool news = false;
    for (auto const& each : found) {
        compare::session_id const to{number_in(each[1])};
        if (!read_.try_emplace(number_in(each[0]), to).second) continue;
        news = true;
        out_.letter(to, *each[3], compare::stamp{number_in(each[2])});
    }
    return news;
}

void mailbox::take_letters(std::vector<row> const& found) {
    if (deliver(found)) hasten();
}

bool mailbox::take_changes(std::vector<row> const& found,
                           std::vector<compare::name_key> const& asked) {
    bool news = false;
    std::map<compare::name_key, compare::stamp> stamps;
    for (auto const& each : found)
        stamps[{*each[0], each[1] == "1"}] = compare::stamp{number_in(each[2])};
    for (auto const& key : asked) {
        auto const known = watched_.find(key);
        if (known == watched_.end() || !known->second || *known->second == stamps[key]) continue;
        news = true;
        known->second = stamps[key];
        out_.changed(key);
    }
    return news;
}

void mailbox::on_answer(answer const& found, std::vector<compare::name_key> const& asked) {
    bool news = deliver(found.results[0]);
    if (!asked.empty()) news = take_changes(found.results[2], asked) || news;
    plan(news, number_in(found.results[1].at(0)[0]));
}

// The nearer, the more often, as long as the line moves.
void mailbox::plan(bool news, std::uint64_t standing) {
    bool const asked_soon = ask_at_ != base::never;
    bool const moving = std::exchange(standing_, standing) != standing;
    waiting_ = asked_soon || !watched_.empty() || standing != 0;
    if (news || asked_soon || moving)
        pause_ = shortest_pause * std::clamp<std::uint64_t>(standing, 1, most_turns);
    else
        pause_ = std::min<std::chrono::microseconds>(longest_pause, pause_ * 5 / 4);
    std::chrono::microseconds const pause = waiting_ ? pause_ : idle_pause;
    // With jitter, so that many clients do not ask at once.
    auto const spread = static_cast<std::uint64_t>(pause.count()) / 4 + 1;
    ask_at_ = now_ + pause + std::chrono::microseconds{chance_.below(spread)};
}

}  // namespace holdfast::stores::mysql
