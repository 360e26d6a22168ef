// Evictions of more holders than one step of a store can tell.
#include <set>

#include "stores/compare/name_operation.hpp"
#include "unit/compare_fixture.hpp"

namespace holdfast::stores::compare {
namespace {

class compare_evictions : public machine_fixture {
protected:
    [[nodiscard]] static seam::claim permit(std::uint64_t client, std::uint32_t limit) {
        auto spec = std::make_shared<seam::claim_spec>();
        spec->name = "n";
        spec->kind = lock_kind::semaphore;
        spec->mode = claim_mode::permits;
        spec->limit = limit;
        spec->lease = 30s;
        return {.spec = spec, .id = {seam::client_id{client}, 1}, .actor = seam::actor_id{9}};
    }

    [[nodiscard]] static session_id session_of(std::uint64_t client) {
        return session_id{1000 + client};
    }

    /// A semaphore that is held by so many clients, one permit each and all of them, while so many wait.
    [[nodiscard]] view crowded(std::uint32_t holders, std::uint32_t waiters) const {
        moment const when{.now = at(now_), .shown = at(now_)};
        head_state head;
        head.record.kind = lock_kind::semaphore;
        head.record.declared = head.record.current = holders;
        view out{.key = {"n"}, .written = stamp{500}};
        for (std::uint64_t client = 100; client < 100 + holders + waiters; ++client) {
            claim_record claim;
            claim.subject = permit(client, holders);
            claim.mode = claim_mode::permits;
            claim.session = session_of(client);
            claim.secret = client;
            if (client < 100 + holders) {
                claim.held = true;
                claim.number = seam::sequence{client};
                head.holders.push_back(std::move(claim));
            } else {
                out.line.push_back({.id = claim.subject.id,
                                    .session = claim.session,
                                    .place = client,
                                    .body = write_waiter(claim, when)});
            }
        }
        out.body = write_head(head, when);
        return out;
    }

    [[nodiscard]] static std::size_t size_of(step const& what) {
        return (what.head ? 1U : 0U) + what.leave.size() + what.append.size() + what.letters.size();
    }

    /// Carries out every step of the eviction.
    void carry_out(view const& crowd) {
        answer(next("fetch"), views{.found = {crowd, view{.key = {"n", true}}}});
        open_session();
        answer(next("fetch"), views{.found = {crowd}});
        stamps_ = 600;
        while (!driver_.calls.empty() && driver_.calls.front().verb == std::string{"commit"}) {
            auto const sent = next("commit");
            ++steps_;
            EXPECT_LE(size_of(sent.what), driver_.traits().writes) << "in step " << steps_;
            stamp const written{++stamps_};
            for (auto const& letter : sent.what.letters)
                for (auto const& told : read_messages(letter.body, written)) {
                    bool const gone = std::holds_alternative<gone_message>(told);
                    EXPECT_TRUE((gone ? gone_ : let_in_).insert(letter.to).second);
                }
            answer(sent, committed{.written = written});
        }
    }

    int steps_{0};
    std::set<session_id> gone_;    ///< were told so
    std::set<session_id> let_in_;  ///< the same
};

TEST_F(compare_evictions, of_a_few_are_one_step) {
    ask(seam::evict{.name = "n"});
    carry_out(crowded(10, 0));
    EXPECT_EQ(steps_, 1);
    EXPECT_EQ(gone_.size(), 10U);
    EXPECT_EQ(std::get<seam::evicted>(reply().body).count, 10U);
}

TEST_F(compare_evictions, of_many_are_steps_that_a_store_takes) {
    constexpr std::uint32_t many = 200;
    ask(seam::evict{.name = "n"});
    carry_out(crowded(many, 0));
    EXPECT_GT(steps_, 1);
    EXPECT_EQ(gone_.size(), many) << "each of them is told";
    EXPECT_EQ(std::get<seam::evicted>(reply().body).count, many);
}

TEST_F(compare_evictions, spare_those_who_are_let_in_meanwhile) {
    constexpr std::uint32_t many = 60;
    ask(seam::evict{.name = "n"});
    carry_out(crowded(many, many));
    EXPECT_EQ(gone_.size(), many);
    EXPECT_EQ(let_in_.size(), many);
    for (auto const each : let_in_)
        EXPECT_FALSE(gone_.contains(each));
    EXPECT_EQ(std::get<seam::evicted>(reply().body).count, many);
}

// ZooKeeper's steps are smaller.
TEST_F(compare_evictions, of_a_few_let_in_as_many_as_there_is_room_for) {
    driver_.has.writes = 48;
    ask(seam::evict{.name = "n"});
    carry_out(crowded(16, 16));
    EXPECT_EQ(steps_, 1);
    EXPECT_EQ(gone_.size(), 16U);
    EXPECT_EQ(let_in_.size(), 15U);
    EXPECT_EQ(std::get<seam::evicted>(reply().body).count, 16U);
    (void)next("fetch");  // whoever is left comes in afterwards
}

}  // namespace
}  // namespace holdfast::stores::compare
