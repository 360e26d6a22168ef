#include "stores/mysql/mailbox.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "stores/compare/message.hpp"
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
constexpr std::size_t most_removed = 500;  ///< letters at once
/// A letter may be read so long after the end of its session by our own clock.
constexpr std::chrono::seconds after_end{5};

// What a letter has granted, where it tells the name; else a look finds out. A step is about one name.
std::optional<compare::name_key> name_granted_by(std::string const& letter,
                                                 compare::stamp written) {
    try {
        for (auto const& each : compare::read_messages(letter, written))
            if (auto const* const found = std::get_if<compare::granted_message>(&each);
                found != nullptr && found->after.written == written)
                return found->after.key;
    } catch (std::system_error const&) {  // nonsense, which is told to whom it is for
    }
    return std::nullopt;
}

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

void mailbox::forget(compare::session_id id) {
    own_.erase(id);
    std::erase_if(letters_, [id](auto const& each) { return each.second.to == id; });
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

void mailbox::tend() {
    if (now_ >= remove_at_ && !removing_) remove();
    if (now_ < ask_at_ || asking_ || removing_) return;
    auto const to = addresses();
    std::vector<compare::name_key> asked;
    for (auto const& [key, seen] : watched_)
        if (seen) asked.push_back(key);
    ask_at_ = base::never;
    if (to.empty() && asked.empty()) return;
    asking_ = true;
    around_.send(packets::mail(to, asked), [this, asked](answer const& found) {
        asking_ = false;
        if (found.lost || found.error != 0) {
            ask_at_ = now_ + (around_.is_up() ? longest_pause : after_trouble);
            return;
        }
        on_answer(found, asked);
    });
}

// --- letters -----------------------------------------------------------------------------------

bool mailbox::note(std::vector<row> const& found) {
    bool news = false;
    for (auto const& each : found) {
        letter_key const key{compare::stamp{number_in(each[2])}, number_in(each[0])};
        compare::session_id const to{number_in(each[1])};
        news = letters_.try_emplace(key, to, text_in(each[3])).second || news;
    }
    if (news) remove_at_ = now_;
    return news;
}

void mailbox::take_letters(std::vector<row> const& found, bool durable) {
    if (note(found)) hasten();
    if (!durable) return;
    for (auto const& each : found)
        if (auto const known =
                letters_.find({compare::stamp{number_in(each[2])}, number_in(each[0])});
            known != letters_.end())
            deliver(*known);
}

void mailbox::deliver(read_letters::value_type& letter) {
    auto& [key, read] = letter;
    if (std::exchange(read.delivered, true)) return;
    if (auto name = name_granted_by(read.body, key.first))
        around_.durable.add({*std::move(name), read.to, key.first});
    out_.letter(read.to, std::exchange(read.body, {}), key.first);
}

void mailbox::remove() {
    remove_at_ = base::never;
    std::vector<letter_key> all;
    for (auto const& [key, letter] : letters_)
        if (letter.until == base::never && all.size() < most_removed) all.push_back(key);
    if (all.empty()) return;
    removing_ = true;
    auto text = packets::throw_away(all);
    around_.send(std::move(text), [this, all = std::move(all)](answer const& found) {
        if (found.lost || found.error != 0) {
            removing_ = false;
            remove_at_ = now_ + (around_.is_up() ? longest_pause : after_trouble);
            return;
        }
        auto const count = number_in(found.first()[0]);
        removing_ = false;
        on_removed(all, count);
    });
}

// When one is missing, nobody knows which: the server has crashed before it was on the disk, or we have removed it by a
// request whose answer was lost.
void mailbox::on_removed(std::vector<letter_key> const& letters, std::uint64_t count) {
    bool const all = count == letters.size();
    bool missed = false;
    std::erase_if(letters_, [this](auto const& each) { return each.second.until < now_; });
    for (auto const& key : letters) {
        auto const known = letters_.find(key);
        if (known == letters_.end()) continue;
        if (all) deliver(*known);
        missed = missed || !known->second.delivered;
        known->second.until = now_ + around_.timeout + after_trouble;
    }
    if (missed) out_.gap();
    remove_at_ = now_;  // others may have come
}

// --- what comes --------------------------------------------------------------------------------

bool mailbox::take_changes(std::vector<row> const& found,
                           std::vector<compare::name_key> const& asked) {
    bool news = false;
    std::map<compare::name_key, compare::stamp> stamps;
    for (auto const& each : found)
        stamps[{text_in(each[0]), each[1] == "1"}] = compare::stamp{number_in(each[2])};
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
    auto const standing = number_in(found.first(1)[0]);
    bool news = !asked.empty() && take_changes(found.rows(2), asked);
    news = note(found.rows(0)) || news;
    plan(news, standing);
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
