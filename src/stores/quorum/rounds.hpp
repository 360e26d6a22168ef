// The requests that are put to members, and their answers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "seam/notice.hpp"
#include "stores/quorum/judgement.hpp"
#include "stores/quorum/member.hpp"
#include "stores/quorum/round.hpp"

namespace holdfast::stores::quorum {

/// A request for one member.
struct outgoing {
    std::size_t member{0};
    seam::request_id id{};
    seam::request what;
};

/// What the asker is to be told.
struct results {
    std::vector<std::pair<seam::request_id, seam::reply>> replies{};
    std::vector<seam::notice> notices{};

    [[nodiscard]] bool empty() const noexcept { return replies.empty() && notices.empty(); }
};

/// A request that is under way to a member.
struct call {
    std::uint64_t round{0};  ///< 0: nobody cares any more
    std::size_t member{0};
    base::instant sent{};
    bool about_record{false};
    base::instant due{};                   ///< from then on its member is taken for silent
    std::optional<seam::claim_id> ends{};  ///< of a settlement
};

/// Claims that members were asked to end, and have not said to have ended.
struct unheard_ends {
    std::size_t count{0};
    std::chrono::nanoseconds patience{0};  ///< that the slowest of these members is given
};

/// Thread-safety: none; it belongs to the machine.
class rounds {
public:
    using judge_function = std::function<void(round&, base::instant)>;

    /// Both outlive it.
    rounds(std::vector<member>& members, judgement const& judge)
        : members_{members}, judge_{judge} {}

    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
    [[nodiscard]] std::size_t majority() const { return judge_.majority(size()); }

    /// Without an asker nobody waits for it. It ends by itself when no member is asked any more.
    round& open(std::optional<seam::request_id> asker, base::instant now, judge_function judge);
    [[nodiscard]] round* find(std::uint64_t number);
    void close_if_over(std::uint64_t number);
    void ask(round& of, std::size_t to, seam::request what, std::chrono::nanoseconds patience,
             base::instant now);
    void ask_all(round& of, seam::request const& what, std::chrono::milliseconds lease,
                 base::instant now);
    void ask_for_record(std::size_t to, seam::request what, std::chrono::nanoseconds patience,
                        base::instant now);

    [[nodiscard]] call const* find_call(seam::request_id id) const {
        auto const found = calls_.find(id);
        return found == calls_.end() ? nullptr : &found->second;
    }
    /// The request that was answered; none when it is not known.
    [[nodiscard]] std::optional<call> take_call(seam::request_id id);
    /// Those whose members are taken for silent from now on.
    [[nodiscard]] std::vector<call> take_overdue(base::instant now);
    void cast(call const& about, vote said, base::instant now);

    void answer(round& of, seam::reply_body body, base::instant now);
    /// The answer is given then, and not before.
    void answer_at(base::instant when, round& of, seam::reply_body body);
    void reply(seam::request_id to, seam::reply_body body, base::instant now);
    /// The round is judged then, whatever has been answered.
    void remind(round const& of, base::instant when) { reminders_.emplace(when, of.number); }
    /// Gives the answers that are due.
    void on_time(base::instant now);
    void fail(seam::request_id to, errc why, std::string words, base::instant now);
    void tell(seam::notice what) { results_.notices.push_back(std::move(what)); }
    /// How long a majority takes to answer, by what was seen lately.
    [[nodiscard]] std::chrono::nanoseconds usual_time() const;
    /// Those that are taken for silent by now are not among them.
    [[nodiscard]] unheard_ends ends_under_way(std::chrono::milliseconds longest_lease) const;
    /// In a round, or without one: why no majority can be asked.
    [[nodiscard]] seam::failure no_majority(round const* of) const;
    /// For what is the same at every member: the first answer, once a majority has given one.
    void judge_simply(round& of, base::instant now);

    /// Somebody waits for members of which the first have answered: the others are near, or late.
    [[nodiscard]] bool are_being_answered() const {
        // With what slower members still have to say of those before.
        constexpr std::size_t few = 4;
        return all_.size() <= few && std::ranges::any_of(all_, [](auto const& each) {
                   return each.second.asker && each.second.answered() > 0;
               });
    }
    [[nodiscard]] base::instant next_time() const {
        auto const silent = timeouts_.empty() ? base::never : timeouts_.begin()->when;
        auto const kept = kept_back_.empty() ? base::never : kept_back_.begin()->first;
        auto const reminded = reminders_.empty() ? base::never : reminders_.begin()->first;
        return std::min({silent, kept, reminded});
    }
    [[nodiscard]] std::vector<outgoing> take_outgoing() { return std::exchange(outgoing_, {}); }
    [[nodiscard]] results take_results() { return std::exchange(results_, {}); }

private:
    struct timeout {
        base::instant when{};
        seam::request_id id{};
        auto operator<=>(timeout const&) const = default;
    };
    void put(std::size_t to, seam::request what, call about, std::chrono::nanoseconds patience,
             base::instant now);
    [[nodiscard]] base::error const* trouble_of(std::size_t which, round const* of) const;
    [[nodiscard]] std::error_code common_trouble(round const* of) const;

    std::vector<member>& members_;
    judgement const& judge_;
    std::map<std::uint64_t, round> all_;
    std::map<seam::request_id, call> calls_;
    std::set<timeout> timeouts_;
    std::multimap<base::instant, std::pair<seam::request_id, seam::reply_body>> kept_back_;
    std::multimap<base::instant, std::uint64_t> reminders_;  ///< numbers of rounds
    std::uint64_t last_round_{0};
    std::uint64_t last_request_{0};
    std::vector<outgoing> outgoing_;
    results results_;
};

/// The time of a quorum: that of its client.
[[nodiscard]] seam::store_time store_time_of(base::instant when) noexcept;

}  // namespace holdfast::stores::quorum
