// Who may vote, and by which clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stores/quorum/agreement.hpp"
#include "stores/quorum/rounds.hpp"

namespace holdfast::stores::quorum {

/// Asks each member for its record before it may vote, and gives one to those that have none.
/// Thread-safety: none; it belongs to the machine.
class membership {
public:
    /// All but the agreement outlive it.
    membership(std::vector<member>& members, rounds& asked, judgement const& judge,
               agreement agreed, seam::client_id self)
        : members_{members},
          rounds_{asked},
          judge_{judge},
          agreed_{std::move(agreed)},
          self_{self} {}

    [[nodiscard]] agreement const& agreed() const noexcept { return agreed_; }
    [[nodiscard]] std::size_t voters() const;
    /// What a member says that belongs to another quorum, when without such members no majority is possible. None when
    /// the others are a majority, though they may be out of reach.
    [[nodiscard]] base::error const* disagreement() const;
    /// What is wrong where two members are one server; none else.
    [[nodiscard]] base::error const* doubling() const;

    /// Answers when a majority can be asked, or cannot.
    void greet(seam::request_id id, base::instant now);
    void prepare(std::size_t which, base::instant now);
    void prepare_all(base::instant now);
    /// What any reply tells of its member.
    void learn(std::size_t about, base::instant sent, seam::reply const& answer, base::instant now);
    /// Its connection was lost: not every server that has lost its data has another clock, but none has its record.
    void doubt(std::size_t about, base::instant now);
    void on_record_reply(std::size_t from, seam::reply const& answer, base::instant now);

    void on_time(base::instant now);
    [[nodiscard]] base::instant next_time() const;

private:
    /// Who asks for the time waits so long for members that are not known yet, once a majority is.
    static constexpr std::chrono::milliseconds hello_grace{50};
    /// A member that belongs elsewhere, or is another one, may be put right.
    static constexpr std::chrono::milliseconds ask_mistaken_again{1000};

    [[nodiscard]] member const* twin_of(std::size_t about, seam::clock_id clock) const;
    void refuse(std::size_t about, member const& twin, base::instant now);
    void on_record(std::size_t of, seam::cell const& found, base::instant now);
    void on_missing_record(std::size_t of, base::instant now);
    [[nodiscard]] bool may_give_record() const;
    void write_record(std::size_t of, std::uint64_t version, bool sits_out, base::instant now);
    void set_standing(std::size_t of, seam::store_time votes_from, base::instant now);
    void look_again(base::instant now);
    void judge_hellos(base::instant now);
    [[nodiscard]] bool is_settled(base::instant now, base::instant since) const;

    struct waiting_hello {
        seam::request_id id{};
        base::instant since{};
        base::instant look_at{};  ///< whether it can be answered, whatever comes
    };

    std::vector<member>& members_;
    rounds& rounds_;
    judgement const& judge_;
    agreement agreed_;
    seam::client_id self_;
    std::vector<waiting_hello> hellos_;
    std::uint64_t last_operation_{0};
    bool knew_records_{false};  ///< it has seen a member of this quorum
};

}  // namespace holdfast::stores::quorum
