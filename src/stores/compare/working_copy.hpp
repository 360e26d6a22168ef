// A working copy: one name at one moment, which the rules change as if it were the store.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stores/compare/addressees.hpp"
#include "stores/compare/ballot_copy.hpp"
#include "stores/compare/driver.hpp"
#include "stores/compare/head.hpp"

namespace holdfast::stores::compare {

/// Thrown out of the rules when they ask for what was not fetched: fetch it, and judge anew.
struct miss {
    bool whole_line{false};
    bool more_of_line{
        false};  ///< all who were seen come in: of what was fetched just now, the whole line then
    std::vector<seam::claim_id> claims{};
};

/// Who judges, and with what.
struct judging {
    moment when{};
    seam::store_clock::duration lag{};  ///< it may be so much later at the store
    std::shared_ptr<seam::identity const> self{};
    own_session session{};                  ///< that a new claim lives with
    std::uint64_t secret{0};                ///< of a new claim
    session_id end{};                       ///< on a store without a clock: what a new end is
    bool tombstone{false};                  ///< the request's claim was given up before
    std::optional<seam::claim_id> moves{};  ///< this held claim goes over to `session`
    bool wakes{false};                      ///< whoever waits is meant, so nobody may be overlooked
    bool tells_first{false};                ///< the first who waits is told when something is kept
    bool tells_holder{false};               ///< who holds is told that somebody waits
    std::set<session_id> const* dead{nullptr};  ///< sessions of one's own that have died
    driver_traits traits{};
};

/// What became of a name, for a step.
struct change {
    bool head_changed{false};
    head_write head{};
    std::vector<line_item> leave{};
    std::vector<line_item> append{};
    std::optional<std::uint64_t> nobody_behind{};
    std::vector<std::uint64_t> seen_places{};
    std::optional<proposal> ballot{};
    view after{};      ///< the name as it is once the step is carried out
    bool full{false};  ///< more could be let in: the step was large enough
};

/// The ledger of one name. What the rules ask for and is not in it is a `miss`.
/// Thread-safety: none; it lives for one judgement.
class working_copy final : public lease::ledger {
public:
    /// Throws when what is in the view cannot be read.
    /// `requests`: so many are judged by it.
    working_copy(view const& seen, std::vector<seam::claim_id> const& asked, judging const& context,
                 std::size_t requests = 1);

    /// Another request follows, of the same client.
    void attend(judging const& context) noexcept;

    [[nodiscard]] lease::name_record* find(std::string_view name, std::size_t hash,
                                           bool condition) override;
    lease::name_record& make(seam::claim_spec const& spec) override;
    void save(lease::name_record& record) override;
    void erase(lease::name_record& record) override;

    [[nodiscard]] lease::entry* find(lease::name_record& record, seam::claim_id id) override;
    lease::entry& add(lease::name_record& record, lease::entry made) override;
    void save(lease::name_record& record, lease::entry& changed) override;
    void promote(lease::name_record& record, lease::entry& waiter) override;
    void remove(lease::name_record& record, lease::entry& ended) override;
    [[nodiscard]] lease::entry* soonest_holder(lease::name_record& record) override;
    [[nodiscard]] lease::entry* first_waiter(lease::name_record& record) override;
    void each_holder(lease::name_record& record, visitor const& visit) override;
    void each_waiter(lease::name_record& record, visitor const& visit) override;

    [[nodiscard]] seam::sequence next_sequence() override { return symbolic(drawn_++); }
    [[nodiscard]] lease::ballot_memory* ballots() override {
        return context_->traits.ballots ? &ballots_ : nullptr;
    }

    // A claim that was given up is known to its own client, and a copy of its submit is fenced off by the
    // generation of its session.
    void put_tombstone(seam::claim_id, seam::store_time) override {}
    [[nodiscard]] bool has_tombstone(seam::claim_id, seam::store_time) override {
        return context_->tombstone;
    }

    [[nodiscard]] lease::cell_record* find_cell(seam::cell_key const& key) override;
    void put_cell(seam::cell_key const& key, lease::cell_record value) override;
    void erase_cell(seam::cell_key const& key) override;
    void purge_cells(lease::name_record& record, seam::store_time now) override;

    // Who watches is the driver's affair; that there was something to see is ours.
    void watch(seam::client_id, seam::cell_key const&, bool) override {}
    [[nodiscard]] bool watched() override { return true; }
    void each_watcher(seam::cell_key const&, std::function<void(seam::client_id)> const&) override {
        announced_ = true;
    }

    // One name is judged at a time: listings are put together by the family.
    [[nodiscard]] std::vector<std::string> names(std::string_view, std::string_view,
                                                 std::size_t) override {
        return {};
    }
    [[nodiscard]] std::vector<std::string> waited_names(std::string_view, std::size_t) override {
        return {};
    }

    [[nodiscard]] lease::name_record* record() noexcept {
        return exists_ ? &head_.record : nullptr;
    }

    /// Whom the notices are meant for that the rules have given about claims.
    [[nodiscard]] addressees const& notified() const noexcept { return notified_; }
    /// A live session of a client that has a claim here.
    [[nodiscard]] std::optional<session_id> session_of(seam::client_id client) const;
    [[nodiscard]] bool is_dead(session_id id) const;
    /// Sessions whose life nobody has looked up, and which were taken for alive.
    [[nodiscard]] std::vector<session_id> const& unverified() const noexcept { return unverified_; }
    /// The one who came last, where a dead session has left another one.
    [[nodiscard]] claim_record const* holder(seam::claim_id id) const;

    /// What the rules have made of it. May be a `miss` still.
    [[nodiscard]] change changes() const;

private:
    [[nodiscard]] seam::store_time end_of_session(session_id id, std::chrono::milliseconds lease);
    [[nodiscard]] seam::store_time end_of(due end);
    [[nodiscard]] due due_at(seam::store_time when) const;
    void load_head(view const& seen);
    void load_line(view const& seen);
    [[nodiscard]] bool belongs(seam::claim_spec const& spec);
    void enliven(claim_record& claim);
    void count();
    [[nodiscard]] bool admits_more() const noexcept;
    [[nodiscard]] bool relies_on_empty_line(bool has_head) const noexcept;
    [[nodiscard]] bool has_head() const noexcept;
    [[nodiscard]] line_item item_of(claim_record const& waiter) const;
    [[nodiscard]] std::size_t step_limit() const noexcept;

    judging const* context_;  ///< of the request that is being judged
    std::size_t requests_;
    bool wakes_{false};
    bool tells_first_{false};
    view const& seen_;
    std::vector<seam::claim_id> const& asked_;
    std::map<session_id, session_state> sessions_;
    std::vector<session_id> unverified_;
    head_state head_;
    std::string body_before_;
    std::list<claim_record> line_;    ///< its beginning, without a gap
    std::list<claim_record> others_;  ///< somewhere behind it
    addressees notified_;
    std::vector<line_item> leave_;
    ballot_copy ballots_;
    bool admitted_{false};  ///< somebody came in without having waited
    bool passed_{false};    ///< somebody came in from behind the line, as far as it was seen
    bool saw_all_{false};   ///< the rules have looked at everybody who waits
    bool exists_{false};
    bool announced_{false};
    bool full_{false};
    std::uint32_t drawn_{0};
    std::size_t promoted_{0};
    std::size_t evicted_{
        0};  ///< of those who held, and were alive; also those who let go themselves
    seam::store_time limit_end_{};  ///< of the limit that the head remembers
};

}  // namespace holdfast::stores::compare
