// The contract of drivers: steps whose sequence somebody else has chosen. A driver that takes no ballots has no part in it.
#include <algorithm>

#include "compare/contract.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;

namespace {

class votes {
public:
    explicit votes(member& who, name_key key) : who_{who}, key_{std::move(key)} {}

    [[nodiscard]] step on(std::uint64_t ballot, bool compared = true) const {
        step out = who_.on(key_);
        out.head = head_of("who holds");
        out.ballot = proposal{.number = seam::sequence{ballot}, .compared = compared};
        out.otherwise.ballot = true;
        return out;
    }
    /// Holds with it, and lets go.
    stamp grant(std::uint64_t ballot, bool compared = true) {
        auto const written = expect<committed>(who_->commit(on(ballot, compared))).written;
        erase(written);
        return written;
    }
    void erase(stamp written) {
        step out = who_.on(key_);
        out.expected = written;
        out.head = head_write{.erase = true};
        (void)expect<committed>(who_->commit(out));
    }
    /// What it has to exceed, of one that is not carried out.
    std::uint64_t outvoted(std::uint64_t ballot) {
        view const found = expect<missed>(who_->commit(on(ballot))).found;
        EXPECT_EQ(found.written, stamp{}) << "nobody holds it";
        return static_cast<std::uint64_t>(found.ballot);
    }
    std::uint64_t looked_up() {
        return static_cast<std::uint64_t>(who_->look({.key = key_, .ballot = true}).ballot);
    }

private:
    member& who_;
    name_key key_;
};

}  // namespace

TEST_P(driver_contract, a_ballot_has_to_exceed_the_last_one_of_its_name) {
    member one = join();
    if (!one->driver().traits().ballots) return;
    votes name{one, new_key()};
    EXPECT_EQ(name.looked_up(), 0U);
    name.grant(70);
    EXPECT_EQ(name.looked_up(), 70U);
    EXPECT_EQ(name.outvoted(69), 70U);
    EXPECT_EQ(name.outvoted(70), 70U);
    name.grant(71);
    EXPECT_EQ(name.looked_up(), 71U);
}

TEST_P(driver_contract, ballots_are_of_one_name_and_of_one_kind) {
    member one = join();
    if (!one->driver().traits().ballots) return;
    name_key const key = new_key();
    votes{one, key}.grant(70);
    votes{one, new_key()}.grant(60);
    votes{one, {key.name, true}}.grant(50);
    EXPECT_EQ((votes{one, key}.looked_up()), 70U);
}

TEST_P(driver_contract, a_ballot_that_is_not_compared_lowers_nothing) {
    member one = join();
    if (!one->driver().traits().ballots) return;
    votes name{one, new_key()};
    name.grant(70);
    name.grant(60, false);
    EXPECT_EQ(name.outvoted(70), 70U);
    name.grant(80, false);
    EXPECT_EQ(name.outvoted(80), 80U);
}

TEST_P(driver_contract, a_step_that_is_not_carried_out_leaves_no_ballot) {
    member one = join();
    if (!one->driver().traits().ballots) return;
    name_key const key = new_key();
    votes name{one, key};
    stamp const held = expect<committed>(one->commit(name.on(70))).written;
    EXPECT_EQ(expect<missed>(one->commit(name.on(90))).found.written, held) << "it is held";
    step other = name.on(90);
    other.expected = stamp{static_cast<std::uint64_t>(held) - 1};
    (void)expect<missed>(one->commit(other));
    step fenced_off = name.on(90);
    fenced_off.of = generation{static_cast<std::uint64_t>(one.current) + 1};
    (void)expect<fenced>(one->commit(fenced_off));
    EXPECT_EQ(name.looked_up(), 70U);
    // Beside who holds already.
    step beside = name.on(80);
    beside.expected = held;
    EXPECT_GT(expect<committed>(one->commit(beside)).written, held);
    EXPECT_EQ(name.looked_up(), 80U);
}

TEST_P(driver_contract, steps_without_a_ballot_neither_see_nor_change_them) {
    member one = join();
    if (!one->driver().traits().ballots) return;
    name_key const key = new_key();
    votes name{one, key};
    name.grant(70);
    name.erase(write_head(one, key, "without"));
    EXPECT_EQ(name.looked_up(), 70U);
}

// Whatever comes between the moments of two that propose at once, the later grant has the higher ballot.
TEST_P(driver_contract, ballots_rise_from_grant_to_grant) {
    member one = join();
    member other = join();
    if (!one->driver().traits().ballots) return;
    name_key const key = new_key();
    votes mine{one, key};
    votes yours{other, key};
    std::vector<std::pair<stamp, std::uint64_t>> grants;
    auto const finish = [&](member& who, votes& with, ticket which, std::uint64_t ballot) {
        auto const told = who->outcome_of(which);
        auto const* const done = std::get_if<committed>(&told);
        if (done == nullptr) return;
        grants.emplace_back(done->written, ballot);
        with.erase(done->written);
    };
    auto const rounds = static_cast<std::uint64_t>(store().rounds());
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        auto const high = 10 * round;
        auto const low = high - round % 13;
        ticket const first = one->next_ticket();
        ticket const second = other->next_ticket();
        one->driver().commit(first, mine.on(high));
        other->driver().commit(second, yours.on(low));
        finish(one, mine, first, high);
        finish(other, yours, second, low);
    }
    EXPECT_GE(grants.size(), rounds);
    std::ranges::sort(grants);
    for (std::size_t i = 1; i < grants.size(); ++i)
        EXPECT_LT(grants[i - 1].second, grants[i].second);
}

}  // namespace holdfast::driver_tests
