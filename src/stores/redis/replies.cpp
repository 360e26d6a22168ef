#include "stores/redis/replies.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "seam/refusal_text.hpp"

namespace holdfast::stores::redis {

namespace {

class refused_request final : public exchange {
public:
    explicit refused_request(base::error const& why) { on_failure(0, why); }
    void on_answer(std::size_t, answer const&) override {}
    seam::reply finish() override { return {}; }
};

seam::store_time moment(std::uint64_t microseconds) {
    return seam::store_time{seam::store_clock::duration{microseconds}};
}

}  // namespace

seam::store_time read_time(answer_reader& from) { return moment(from.number(largest_number)); }

// Sums of what a hostile server says must not overflow.
std::chrono::milliseconds read_span(answer_reader& from) {
    auto const longest = static_cast<std::uint64_t>(longest_span.count());
    return std::chrono::milliseconds{std::min(from.number(), longest)};
}

std::uint32_t read_count(answer_reader& from) {
    return static_cast<std::uint32_t>(from.number(UINT32_MAX));
}

seam::grant read_grant(answer_reader& from) {
    seam::grant out;
    out.number = seam::sequence{from.number(largest_number)};
    out.began = read_time(from);
    out.contended = from.number(1) == 1;
    return out;
}

lock_kind read_kind(answer_reader& from) {
    return static_cast<lock_kind>(from.number(static_cast<std::uint64_t>(lock_kind::election)));
}

claim_mode read_mode(answer_reader& from) {
    return static_cast<claim_mode>(from.number(static_cast<std::uint64_t>(claim_mode::permits)));
}

reply_head read_head(answer_reader& from) {
    auto const elements = from.array();
    constexpr std::size_t head = 2;
    if (elements < head) throw garbled{"an answer of a script is shorter than it should be"};
    auto const now = read_time(from);
    return {now, from.text(), elements - head};
}

std::optional<seam::store_time> read_usual(answer_reader& from) {
    if (from.peek() != answer::kind::integer) return std::nullopt;
    return read_time(from);
}

seam::grant grant_of(seam::store_time now) noexcept {
    seam::grant out;
    out.number = seam::sequence{static_cast<std::uint64_t>(now.time_since_epoch().count())};
    out.began = now;
    return out;
}

seam::grant read_lone_grant(answer_reader& from, seam::store_time now) {
    auto out = grant_of(now);
    out.number = seam::sequence{from.number(largest_number)};
    return out;
}

void unknown_word(std::string_view word) {
    throw garbled{"a script answered '" + std::string{word.substr(0, 40)} + "'"};
}

seam::refused read_refused(answer_reader& from, seam::claim_spec const* spec) {
    auto const why = from.text();
    seam::refused out;
    out.blocked_for = read_span(from);
    if (why == "busy") {
        out.why = seam::refusal::busy;
    } else if (why == "too_late") {
        out.why = seam::refusal::too_late;
    } else if (why == "gone") {
        out.why = seam::refusal::gone;
        out.text = seam::not_held_text;
    } else if (why == "would_deadlock") {
        out.why = seam::refusal::would_deadlock;
        out.text = seam::stronger_text;
    } else if (why == "outvoted") {
        out.why = seam::refusal::outvoted;
        out.ballot = seam::sequence{from.number(largest_number)};
    } else if (why == "kind") {
        out.why = seam::refusal::kind_mismatch;
        out.text = seam::kind_mismatch_text(spec, read_kind(from));
    } else if (why == "limit") {
        out.why = seam::refusal::limit_mismatch;
        out.text = seam::limit_mismatch_text(spec, read_count(from));
    } else {
        unknown_word(why);
    }
    return out;
}

seam::reply read_settled(answer_reader& from) {
    if (auto const now = read_usual(from)) return {*now, seam::settled{seam::ending::released}};
    auto const head = read_head(from);
    if (head.word != "released" && head.word != "gone") unknown_word(head.word);
    return {head.now,
            seam::settled{head.word == "gone" ? seam::ending::gone : seam::ending::released}};
}

namespace {

seam::renewal read_renewal(std::string_view word, answer_reader& in) {
    seam::renewal out;
    if (word == "alive") {
        out.found = seam::renewal::status::alive;
        out.held = read_grant(in);
        return out;
    }
    if (word == "waiting") {
        out.found = seam::renewal::status::waiting;
    } else if (word != "gone") {
        unknown_word(word);
    }
    out.blocked_for = read_span(in);
    in.skip();
    in.skip();
    return out;
}

}  // namespace

renew_exchange::renew_exchange(std::size_t claims, std::vector<group> groups, maker make)
    : groups_{std::move(groups)}, make_{std::move(make)} {
    out_.items.assign(claims, seam::renewal{.found = seam::renewal::status::unknown});
    constexpr std::size_t under_way = 256;
    while (made_ < std::min(under_way, groups_.size()))
        make_next();
}

void renew_exchange::make_next() {
    if (made_ < groups_.size()) outbox.push_back(make_(groups_[made_++]));
}

void renew_exchange::on_answer(std::size_t which, answer const& what) {
    answer_reader in{what};
    auto const head = head_of(in);
    auto const& places = groups_[which];
    constexpr std::size_t fields = 4;
    if (head.word == "renewed" && head.more == fields * places.size()) {
        for (auto const place : places)
            out_.items[place] = read_renewal(in.text(), in);
    } else if (places.size() == 1) {
        out_.items[places.front()] = read_renewal(head.word, in);
    } else {
        unknown_word(head.word);
    }
    ++answered_;
    make_next();
}

void renew_exchange::on_failure(std::size_t, base::error const& why) {
    if (!first_failure_) first_failure_ = why;
    make_next();  // a name may be sick
}

// The others are not even tried.
void renew_exchange::on_cut(std::size_t, base::error const& why) {
    if (!first_failure_) first_failure_ = why;
}

seam::reply renew_exchange::finish() {
    if (answered_ == 0 && first_failure_) return {{}, seam::failure{std::move(*first_failure_)}};
    return {now_, std::move(out_)};
}

void evict_exchange::on_answer(std::size_t, answer const& what) {
    answer_reader in{what};
    auto const head = head_of(in);
    if (head.word != "evicted") unknown_word(head.word);
    out_.count += read_count(in);
}

seam::reply read_server_time(answer_reader& from) {
    from.array(2);
    constexpr std::uint64_t million = 1'000'000;
    auto const seconds = from.number(largest_number / million);
    auto const rest = from.number(million);
    return {moment(seconds * million + rest), seam::done{}};
}

std::unique_ptr<exchange> refuse(errc why, std::string words) {
    return std::make_unique<refused_request>(base::error{why, std::move(words)});
}

}  // namespace holdfast::stores::redis
