// The parts of answers that all scripts have in common.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seam/reply.hpp"
#include "stores/redis/answer.hpp"
#include "stores/redis/exchange.hpp"

namespace holdfast::stores::redis {

/// Lua counts exactly up to here; nothing that a script answers is larger.
inline constexpr std::uint64_t largest_number = 1ULL << 53;

/// Longer than anything of ours lasts, and short enough to be counted in nanoseconds.
inline constexpr std::chrono::milliseconds longest_span{std::chrono::hours{24 * 365 * 100}};

[[nodiscard]] seam::store_time read_time(answer_reader& from);
/// At most `longest_span`: what others have set may last longer.
[[nodiscard]] std::chrono::milliseconds read_span(answer_reader& from);
[[nodiscard]] std::uint32_t read_count(answer_reader& from);
/// Sequence, beginning, contended.
[[nodiscard]] seam::grant read_grant(answer_reader& from);
[[nodiscard]] lock_kind read_kind(answer_reader& from);
[[nodiscard]] claim_mode read_mode(answer_reader& from);

/// The beginning of every answer of a script.
struct reply_head {
    seam::store_time now;
    std::string_view word;
    std::size_t more{0};  ///< how many elements follow
};
[[nodiscard]] reply_head read_head(answer_reader& from);

/// What happens most is said by the time alone; nothing when the answer is of the other form.
[[nodiscard]] std::optional<seam::store_time> read_usual(answer_reader& from);
/// The grant that is said so: its sequence is the moment of its beginning.
[[nodiscard]] seam::grant grant_of(seam::store_time now) noexcept;

/// The word of a grant on a name that nobody else uses.
inline constexpr std::string_view lone_word = "alone";
/// What follows it: the sequence.
[[nodiscard]] seam::grant read_lone_grant(answer_reader& from, seam::store_time now);

/// Throws `garbled`: the script said a word that it does not have.
[[noreturn]] void unknown_word(std::string_view word);

/// What follows "refused". `spec` is what was asked for, where the texts should say so.
[[nodiscard]] seam::refused read_refused(answer_reader& from, seam::claim_spec const* spec);

/// The answer to a settlement.
[[nodiscard]] seam::reply read_settled(answer_reader& from);

/// The answer to TIME.
[[nodiscard]] seam::reply read_server_time(answer_reader& from);

/// A request of several commands. Its time is that of the first answer: no later than any other's.
class several : public exchange {
protected:
    reply_head head_of(answer_reader& in) {
        auto const head = read_head(in);
        if (now_ == seam::store_time{}) now_ = head.now;
        return head;
    }

    seam::store_time now_{};
};

/// Renewals, one answer for each group of claims. What fails for one name is known for the others.
///
/// A hundred thousand leases are renewed by thousands at a time: their commands are made as answers
/// come, so that only some of them take up memory.
class renew_exchange final : public several {
public:
    using group = std::vector<std::size_t>;  ///< places in the request
    using maker = std::function<command(group const&)>;

    renew_exchange(std::size_t claims, std::vector<group> groups, maker make);
    void on_answer(std::size_t which, answer const& what) override;
    void on_failure(std::size_t which, base::error const& why) override;
    void on_cut(std::size_t which, base::error const& why) override;
    seam::reply finish() override;

private:
    void make_next();

    std::vector<group> groups_;
    maker make_;
    std::size_t made_{0};
    seam::renewed out_;
    std::size_t answered_{0};
    std::optional<base::error> first_failure_;
};

/// Evictions, added up.
class evict_exchange final : public several {
public:
    void on_answer(std::size_t which, answer const& what) override;
    seam::reply finish() override { return {now_, out_}; }

private:
    seam::evicted out_;
};

/// A request of one command.
template <class Decode>
class single final : public exchange {
public:
    single(command what, Decode decode) : decode_{std::move(decode)} {
        outbox.push_back(std::move(what));
    }
    void on_answer(std::size_t, answer const& what) override {
        answer_reader in{what};
        reply_ = decode_(in);
    }
    seam::reply finish() override { return std::move(reply_); }

private:
    Decode decode_;
    seam::reply reply_;
};

template <class Decode>
[[nodiscard]] std::unique_ptr<exchange> ask(command what, Decode decode) {
    return std::make_unique<single<Decode>>(std::move(what), std::move(decode));
}

/// A request that the layout does not have: it fails without a word to the server.
[[nodiscard]] std::unique_ptr<exchange> refuse(errc why, std::string words);

}  // namespace holdfast::stores::redis
