#include "stores/redis/gathering.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "stores/redis/replies.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

namespace {

// The server does nothing else meanwhile, and should have the next batch while this one is read.
constexpr std::size_t most_at_once = 64;

// The server works at one, and finds the other when it is done. With more of them each would be smaller, and what a call costs
// by itself would be paid more often.
constexpr std::size_t most_batches = 2;

// Where an answer takes longer, most of it is the way, and whoever waits for one pays for it twice.
constexpr std::chrono::milliseconds near{1};

// Some thousand names may be in use at once before they often wait for each other.
constexpr std::size_t name_states = 4096;

std::uint32_t upper_half(std::size_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> (sizeof hash * 4));
}

bool ends_claim(question const& what) noexcept { return what.what.piece.ends; }

// Of an answer that has one: behind the time, in an array.
std::string_view word_of(answer const& what) noexcept {
    auto const& all = what.items();
    if (all.size() < 3 || all.front().what != answer::kind::array) return {};
    bool const is_word = all[2].what == answer::kind::text || all[2].what == answer::kind::status;
    if (!is_word) return {};
    return what.text_of(all[2]);
}

}  // namespace

/// Calls that went out as one, settlements first.
class gathering::batch final : public asker {
public:
    batch(gathering& of, std::vector<question> together) : parts{std::move(together)}, of_{of} {}

    [[nodiscard]] question call() {
        answer_by_ = of_.owner_.answer_by();
        command out{scripts::many, static_cast<unsigned>(parts.size() + 1)};
        out.append_encoded(parts.front().what.mark(), 1);
        for (auto const& each : parts)
            out.append_encoded(each.what.record(), 1);
        out << std::ranges::count_if(parts, ends_claim);
        for (auto const& each : parts)
            out.append_encoded(each.what.terms(), each.what.piece.terms);
        out.to = parts.front().what.to;
        return {.what = std::move(out),
                .from = this,
                .give_up = std::ranges::min(parts, {}, &question::give_up).give_up,
                .is_batch = true};
    }

    std::vector<question> parts;

private:
    void on_answer(std::size_t, answer const& what, seam::clock_id clock) override;
    static void tell(question const& part, std::int64_t now, std::int64_t number,
                     seam::clock_id clock);
    void on_failure(std::size_t, base::error const& why) override {
        for (auto const& each : of_.close(*this))
            each.from->on_failure(each.which, why);
    }
    void on_cut(std::size_t, base::error const& why) override {
        for (auto const& each : of_.close(*this))
            each.from->on_cut(each.which, why);
    }

    gathering& of_;
    base::instant answer_by_{};  ///< asked as late as this, for its time-out
};

// As the script of each would tell it.
void gathering::batch::tell(question const& part, std::int64_t now, std::int64_t number,
                            seam::clock_id clock) {
    answer out;
    if (ends_claim(part)) {
        out.add(answer::kind::integer, now);
    } else {
        out.add(answer::kind::array, 3);
        out.add(answer::kind::integer, now);
        out.add(answer::kind::text, lone_word);
        out.add(answer::kind::integer, number);
    }
    part.from->on_answer(part.which, out, clock);
}

// What is left is asked in the old order; what is done is told. When one rejects what it is told, the others are told
// all the same. Whoever catches what is thrown then tells this batch of the failure, which ends it.
void gathering::batch::on_answer(std::size_t, answer const& what, seam::clock_id clock) {
    answer_reader in{what};
    in.array(3);
    auto const now = static_cast<std::int64_t>(in.number(largest_number));
    auto const first = in.number(largest_number);
    auto const done = in.text();
    if (done.size() != parts.size() || done.find_first_not_of("01") != std::string_view::npos)
        throw garbled{"an answer to many calls is not one for each"};
    auto const ends = static_cast<std::size_t>(std::ranges::count_if(parts, ends_claim));
    auto const granted = static_cast<std::uint64_t>(std::ranges::count(done.substr(ends), '1'));
    if (first + granted > largest_number + 1)
        throw garbled{"a token is beyond what a script counts"};
    auto& whole = of_;
    whole.answer_took_ = whole.owner_.answer_by() - answer_by_;
    auto mine = whole.release(*this);
    for (std::size_t i = 0; i < mine.size(); ++i) {
        if (done[i] != '0') continue;
        whole.learn(mine[i].what, true);
        whole.prolong(mine[i]);
        whole.owner_.send_alone(std::move(mine[i]));
    }
    std::optional<garbled> rejected;
    auto number = static_cast<std::int64_t>(first);
    for (std::size_t i = 0; i < mine.size(); ++i) {
        if (done[i] == '0') continue;
        try {
            tell(mine[i], now, ends_claim(mine[i]) ? 0 : number++, clock);
        } catch (garbled const& why) {
            mine[i].from->on_failure(mine[i].which, {errc::store_unavailable, why.what()});
            rejected = why;
        }
    }
    if (rejected) throw *rejected;
    whole.end(*this);
}

gathering::gathering(owner& of) noexcept : owner_{of} {}

gathering::~gathering() = default;

void gathering::add(question what) {
    make_room();
    goes_alone_ = goes_alone_ || is_used_by_others(what.what);
    waiting_.push_back(std::move(what));
}

void gathering::make_room() {
    if (names_.empty()) names_.resize(name_states);
}

void gathering::wait(question what) {
    ++state_of(what.what).waiting;
    waiting_.push_back(std::move(what));
}

bool gathering::must_wait(command const& what) noexcept {
    auto const& state = state_of(what);
    if (state.waiting > 0 || state.repeated > 0) return true;  // behind one that came first
    if (state.under_way == 0) return false;
    return !what.piece.gathers || what.piece.ends || state.under_way > 1 || !state.ends;
}

bool gathering::is_used_by_others(command const& what) noexcept {
    auto const& state = state_of(what);
    return state.used && state.used_name == upper_half(what.piece.name);
}

void gathering::include(question what) {
    auto& state = state_of(what.what);
    ++state.under_way;
    state.ends = state.ends || ends_claim(what);
    included_.push_back(std::move(what));
}

void gathering::send() {
    if (waiting_.empty()) return;
    goes_alone_ = false;
    auto all = std::exchange(waiting_, {});
    for (std::size_t i = 0; i < held_back_; ++i)
        prolong(all[i]);
    for (auto const& each : all)
        state_of(each.what).waiting = 0;
    auto const slot = [](question const& of) { return of.what.to.slot; };
    if (slot(all.front())) std::ranges::stable_sort(all, {}, slot);
    for (auto& each : all) {
        if (!included_.empty() &&
            (included_.size() >= most_at_once || slot(included_.front()) != slot(each)))
            send_included();
        if (must_wait(each.what)) {
            wait(std::move(each));
        } else if (!takes(each) || is_used_by_others(each.what)) {
            owner_.send_alone(std::move(each));
        } else {
            include(std::move(each));
        }
    }
    if (!included_.empty()) send_included();
    held_back_ = waiting_.size();
}

// Slots do not go together: where names have some, batches are rare, and nobody waits for them.
bool gathering::may_gather() const noexcept {
    return batches_.size() >= most_batches && answer_took_ < near && !goes_alone_ &&
           waiting_.size() < most_at_once && !waiting_.front().what.to.slot;
}

void gathering::send_when_due() {
    if (waiting_.empty()) return;
    if (!may_gather()) return send();
    held_back_ = waiting_.size();
}

void gathering::prolong(question& what) const { what.give_up = owner_.answer_by(); }

void gathering::send_included() {
    auto together = std::exchange(included_, {});
    for (auto const& each : together)
        state_of(each.what).ends = false;
    if (together.size() == 1) {
        --state_of(together.front().what).under_way;
        return owner_.send_alone(std::move(together.front()));
    }
    std::ranges::stable_partition(together, ends_claim);
    under_way_ += together.size();
    owner_.send_alone(batches_.emplace_back(*this, std::move(together)).call());
}

std::vector<question> gathering::release(batch& whole) {
    auto out = std::exchange(whole.parts, {});
    under_way_ -= out.size();
    for (auto const& each : out)
        --state_of(each.what).under_way;
    return out;
}

void gathering::end(batch& whole) {
    std::erase_if(batches_, [&](batch const& each) { return &each == &whole; });
}

std::vector<question> gathering::close(batch& whole) {
    auto out = release(whole);
    end(whole);
    return out;
}

void gathering::learn(command const& asked, answer const& what) noexcept {
    if (names_.empty()) return;
    learn(asked, what.items().front().what != answer::kind::integer && word_of(what) != lone_word);
}

// Another name that shares the place is not concerned, and is not told to be free either.
void gathering::learn(command const& about, bool used_by_others) noexcept {
    auto& state = state_of(about);
    if (used_by_others) {
        state.used = true;
        state.used_name = upper_half(about.piece.name);
    } else if (is_used_by_others(about)) {
        state.used = false;
    }
}

void gathering::keep_behind(command const& what) {
    if (!what.piece.named) return;
    make_room();
    ++state_of(what).repeated;
}

void gathering::let_follow(command const& what) noexcept {
    if (what.piece.named) --state_of(what).repeated;
}

// What is sent again is behind everything that was on its way, and nothing of its name follows it: what is answered
// meanwhile was on its way. Another name that shares the place may be asked for twice, which is harmless.
bool gathering::is_premature(question const& asked, answer const& what) const noexcept {
    if (names_.empty() || !asked.what.piece.named || asked.repeated) return false;
    if (names_[place_of(asked.what)].repeated == 0) return false;
    auto const word = word_of(what);
    return word == "refused" || word == "gone";
}

std::vector<question> gathering::take_apart(question const& asked) {
    auto out = close(static_cast<batch&>(*asked.from));
    for (auto& each : out)
        prolong(each);
    return out;
}

void gathering::cut(base::error const& why) {
    enabled_ = true;
    held_back_ = 0;
    for (auto& each : std::exchange(waiting_, {})) {
        state_of(each.what).waiting = 0;
        each.from->on_cut(each.which, why);
    }
}

}  // namespace holdfast::stores::redis
