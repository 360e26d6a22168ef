// Answers of the family of stores that compare: the time in them was read after the request had come.
#include <deque>
#include <memory>

#include <gtest/gtest.h>

#include "stores/compare/machine.hpp"

namespace holdfast::stores::compare {
namespace {

seam::store_time at_micros(std::int64_t micros) {
    return seam::store_time{seam::store_clock::duration{micros}};
}

/// Keeps the calls until the test answers them.
class waiting_driver final : public driver {
public:
    explicit waiting_driver(bool clock = true) : clock_{clock} {}

    std::deque<ticket> calls;
    session_id opened_last{};

    driver_traits traits() const override { return {.clock = clock_}; }
    void open(ticket which, session_id id, std::chrono::milliseconds, std::string) override {
        calls.push_back(which);
        opened_last = id;
    }
    void keep(ticket which, std::vector<session_id>) override { calls.push_back(which); }
    void raise(ticket which, session_id) override { calls.push_back(which); }
    void close(session_id) noexcept override {}
    void fetch(ticket which, query) override { calls.push_back(which); }
    void list(ticket which, listing) override { calls.push_back(which); }
    void commit(ticket which, step) override { calls.push_back(which); }
    void watch(ticket which, name_key) override { calls.push_back(which); }
    void unwatch(name_key) noexcept override {}
    void watch_session(session_id) override {}
    void unwatch_session(session_id) noexcept override {}
    void drive(base::instant) override {}
    void interrupt() noexcept override {}
    void shut() noexcept override {}
    int descriptor() noexcept override { return -1; }

private:
    bool clock_;
};

class compare_answers : public testing::Test {
protected:
    void answer(outcome what, std::int64_t micros) {
        ASSERT_FALSE(driver_.calls.empty()) << "the store was not asked";
        auto const which = driver_.calls.front();
        driver_.calls.pop_front();
        machine_.on_outcome(which, std::move(what), {at_micros(micros), seam::clock_id{1}});
    }
    [[nodiscard]] seam::reply reply() {
        auto made = machine_.take_results();
        EXPECT_EQ(made.replies.size(), 1U);
        return made.replies.empty() ? seam::reply{} : made.replies.front().second;
    }

    seam::cell_key const key_{lock_kind::latch, "n", {}};
    waiting_driver driver_;
    machine machine_{driver_,
                     {.self = std::make_shared<seam::identity>(),
                      .clocks = {.boot = [] { return base::instant{}; }, .wall = [] { return 0; }},
                      .entropy = [] { return std::uint64_t{5}; },
                      .log = [](log_level, std::string const&) {}}};
};

TEST_F(compare_answers, an_unwatch_is_answered_with_a_time_of_its_own) {
    machine_.take(seam::request_id{1}, seam::watch{key_});
    answer(in_force{}, 1'000);
    EXPECT_EQ(reply().now, at_micros(1'000));
    machine_.take(seam::request_id{2}, seam::unwatch{key_});
    EXPECT_TRUE(machine_.take_results().replies.empty()) << "with the time of before";
    answer(views{}, 5'000);
    EXPECT_EQ(reply().now, at_micros(5'000));
}

TEST_F(compare_answers, so_is_a_renewal_of_what_is_gone) {
    machine_.take(seam::request_id{1}, seam::hello{});
    answer(views{}, 1'000);
    EXPECT_EQ(reply().now, at_micros(1'000));
    auto spec = std::make_shared<seam::claim_spec>();
    spec->name = "n";
    machine_.take(seam::request_id{2}, seam::renew{.items = {{{.spec = spec, .id = {}}, {}}}});
    EXPECT_TRUE(machine_.take_results().replies.empty()) << "with the time of before";
    answer(views{}, 5'000);
    auto const found = reply();
    EXPECT_EQ(found.now, at_micros(5'000));
    ASSERT_TRUE(std::holds_alternative<seam::renewed>(found.body));
    EXPECT_EQ(std::get<seam::renewed>(found.body).items.at(0).found, seam::renewal::status::gone);
}

/// A store whose time is the client's own.
class compare_signs_of_life : public testing::Test {
protected:
    void answer(outcome what) {
        ASSERT_FALSE(driver_.calls.empty()) << "the store was not asked";
        auto const which = driver_.calls.front();
        driver_.calls.pop_front();
        machine_.on_outcome(which, std::move(what), {store_time(), {}});
    }
    [[nodiscard]] seam::store_time store_time() const {
        return at_micros(
            std::chrono::duration_cast<std::chrono::microseconds>(boot_.time_since_epoch())
                .count());
    }

    base::instant boot_{std::chrono::seconds{100}};
    waiting_driver driver_{false};
    machine machine_{driver_,
                     {.self = std::make_shared<seam::identity>(),
                      .clocks = {.boot = [this] { return boot_; }, .wall = [] { return 0; }},
                      .entropy = [] { return std::uint64_t{5}; },
                      .log = [](log_level, std::string const&) {}}};
};

TEST_F(compare_signs_of_life,
       are_shared_for_a_while_and_what_is_answered_without_one_has_the_present_time) {
    constexpr std::chrono::seconds lease{30};
    auto const spec = std::make_shared<seam::claim_spec>();
    spec->name = "n";
    spec->lease = lease;
    seam::claim const mine{.spec = spec, .id = {seam::client_id{1}, 1}};
    auto const began = store_time();
    machine_.take(seam::request_id{1},
                  seam::submit{.subject = mine, .not_after = seam::store_time::max()});
    answer(opened{.current = stamp{1}, .lease = lease, .began = began});
    answer(committed{.written = stamp{2}});
    auto const first = machine_.take_results();
    ASSERT_EQ(first.replies.size(), 1U);
    ASSERT_TRUE(std::holds_alternative<seam::granted>(first.replies.front().second.body))
        << first.replies.front().second.body.index();
    ASSERT_TRUE(driver_.calls.empty());

    boot_ += lease / 6 - std::chrono::milliseconds{1};
    machine_.take(seam::request_id{2}, seam::renew{.items = {{mine, lease}}});
    EXPECT_TRUE(driver_.calls.empty());
    auto const made = machine_.take_results();
    ASSERT_EQ(made.replies.size(), 1U);
    auto const& reply = made.replies.front().second;
    // The engine reckons from it: an older time would prolong the hold beyond the lease.
    EXPECT_EQ(reply.now, store_time());
    ASSERT_TRUE(std::holds_alternative<seam::renewed>(reply.body));
    auto const& item = std::get<seam::renewed>(reply.body).items.at(0);
    EXPECT_EQ(item.found, seam::renewal::status::alive);
    EXPECT_EQ(item.held.began, began);

    machine_.take(seam::request_id{4}, seam::renew{.items = {{mine, lease / 2}}});
    EXPECT_EQ(driver_.calls.size(), 1U) << "too long ago for one that was shortened";
    driver_.calls.clear();

    boot_ += std::chrono::milliseconds{1};
    machine_.take(seam::request_id{3}, seam::renew{.items = {{mine, lease}}});
    EXPECT_EQ(driver_.calls.size(), 1U) << "now it takes another one";
}

/// ZooKeeper's servers have a limit: no renewal gets more than the first one, and none is to look for a longer session.
TEST_F(compare_signs_of_life, are_all_that_a_hold_needs_of_which_the_store_gives_less_than_asked) {
    constexpr std::chrono::seconds lease{30};
    auto const spec = std::make_shared<seam::claim_spec>();
    spec->name = "n";
    spec->lease = lease;
    seam::claim const mine{.spec = spec, .id = {seam::client_id{1}, 1}};
    machine_.take(seam::request_id{1},
                  seam::submit{.subject = mine, .not_after = seam::store_time::max()});
    answer(opened{.current = stamp{1}, .lease = lease - lease / 6, .began = store_time()});
    answer(committed{.written = stamp{2}});
    ASSERT_EQ(machine_.take_results().replies.size(), 1U);

    boot_ += lease / 3;
    machine_.take(seam::request_id{2}, seam::renew{.items = {{mine, lease}}});
    answer(std::vector<kept>{
        {.id = driver_.opened_last, .found = kept::state::alive, .began = store_time()}});
    EXPECT_TRUE(driver_.calls.empty()) << "it was looked at";
    auto const made = machine_.take_results();
    ASSERT_EQ(made.replies.size(), 1U);
    auto const& item = std::get<seam::renewed>(made.replies.front().second.body).items.at(0);
    EXPECT_EQ(item.found, seam::renewal::status::alive);
    EXPECT_EQ(item.held.lease, lease - lease / 6);
}

}  // namespace
}  // namespace holdfast::stores::compare
