// The requests that are put to members, and their answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
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

    /// The request that was answered; none when it is not known.
    [[nodiscard]] std::optional<call> take_call(seam::request_id id);
    /// Those whose members are taken for silent from now on.
    [[nodiscard]] std::vector<call> take_overdue(base::instant now);
    void cast(call const& about, vote said, base::instant now);

    void answer(round& of, seam::reply_body body, base::instant now);
    void reply(seam::request_id to, seam::reply_body body, base::instant now);
    void fail(seam::request_id to, errc why, std::string words, base::instant now);
    void tell(seam::notice what) { results_.notices.push_back(std::move(what)); }
    /// In a round, or without one: why no majority can be asked.
    [[nodiscard]] seam::failure no_majority(round const* of) const;
    /// For what is the same at every member: the first answer, once a majority has given one.
    void judge_simply(round& of, base::instant now);

    [[nodiscard]] base::instant next_time() const {
        return timeouts_.empty() ? base::never : timeouts_.begin()->when;
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

    std::vector<member>& members_;
    judgement const& judge_;
    std::map<std::uint64_t, round> all_;
    std::map<seam::request_id, call> calls_;
    std::set<timeout> timeouts_;
    std::uint64_t last_round_{0};
    std::uint64_t last_request_{0};
    std::vector<outgoing> outgoing_;
    results results_;
};

/// The time of a quorum: that of its client.
[[nodiscard]] seam::store_time store_time_of(base::instant when) noexcept;

}  // namespace holdfast::stores::quorum
