// A store that compares as a member of a quorum: nobody is inside its `drive`, and whoever drives it waits for its
// descriptor together with those of others. So it must become readable also when nothing but time has passed.
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>

#include <gtest/gtest.h>

#include "stores/compare/polled_driver.hpp"
#include "stores/compare/store.hpp"

namespace holdfast::stores::compare {
namespace {

using namespace std::chrono_literals;

/// As that of a database which does not push, without a connection.
class timed_driver final : public polled_driver {
public:
    explicit timed_driver(driver_events& events)
        : polled_driver{events, [](log_level, std::string const&) {}} {}

    int looks{0};         ///< for names
    bool answers{false};  ///< else what is asked runs out of time

    driver_traits traits() const override { return {.pushes = false}; }
    void open(ticket which, session_id, std::chrono::milliseconds, std::string) override {
        call(which, opened{});
    }
    void keep(ticket which, std::vector<session_id>) override { call(which, std::vector<kept>{}); }
    void raise(ticket which, session_id) override { call(which, raised{}); }
    void close(session_id) noexcept override {}
    void fetch(ticket which, query what) override {
        views found;
        for (auto& each : what.names)
            found.found.push_back({.key = std::move(each.key)});
        ++looks;
        call(which, std::move(found));
    }
    void list(ticket which, listing) override { call(which, names{}); }
    void commit(ticket which, step) override { call(which, missed{}); }
    void watch(ticket which, name_key) override { call(which, in_force{}); }
    void unwatch(name_key) noexcept override {}
    void watch_session(session_id) override {}
    void unwatch_session(session_id) noexcept override {}

private:
    static constexpr auto timeout = 5ms;

    void call(ticket which, outcome answer) {
        base::lock_guard const guard{mutex_};
        if (!enter(which)) return settle();
        if (answers) {
            out_.tell(which, std::move(answer), {seam::store_time{1s}, seam::clock_id{7}});
        } else {
            silent_ = which;
            due_ = now_ + timeout;
        }
        settle();
    }
    void tend() override HOLDFAST_REQUIRES(mutex_) {
        if (now_ < due_) return;
        due_ = base::never;
        out_.fail(*silent_, {errc::store_unavailable, "no answer came in time"}, false);
    }
    void take(std::span<net::poller::event const>) override {}
    base::instant next_due() const noexcept override HOLDFAST_REQUIRES(mutex_) { return due_; }
    void cut() noexcept override {}
    void abandon() noexcept override {}

    std::optional<ticket> silent_;  ///< the call that nobody answers
    base::instant due_{base::never};
};

class compare_quorum_member : public testing::Test, seam::event_sink {
protected:
    compare_quorum_member() {
        store_ = make_store(
            {.url = {}, .self = {}, .sink = *this, .log = [](log_level, std::string const&) {}},
            [this](driver_events& events) {
                auto made = std::make_unique<timed_driver>(events);
                driver_ = made.get();
                return made;
            });
        readable_ = store_->descriptor();
    }

    void ask(seam::request what) {
        seam::request_id const id{++last_};
        if (auto answer = store_->send(id, std::move(what)))
            replies_.insert_or_assign(id, std::move(*answer));
    }
    [[nodiscard]] bool is_readable(std::chrono::milliseconds within = 0ms) const {
        pollfd wanted{readable_, POLLIN, 0};
        return ::poll(&wanted, 1, static_cast<int>(within.count())) == 1;
    }
    /// One turn of whoever drives the quorum. False when nothing calls for one.
    [[nodiscard]] bool turn() {
        if (!is_readable(10s)) return false;
        store_->drive(base::boot_clock::now());
        return true;
    }
    [[nodiscard]] seam::reply const* answer() const {
        auto const found = replies_.find(seam::request_id{last_});
        return found == replies_.end() ? nullptr : &found->second;
    }

    timed_driver* driver_{nullptr};
    std::unique_ptr<seam::store> store_;

private:
    void on_reply(seam::request_id id, seam::reply answer) override {
        replies_.insert_or_assign(id, std::move(answer));
    }
    void on_notice(seam::notice) override {}

    int readable_{-1};
    std::uint64_t last_{0};
    std::map<seam::request_id, seam::reply> replies_;
};

constexpr int most_turns = 1'000;

TEST_F(compare_quorum_member, shows_that_an_answer_is_there) {
    driver_->answers = true;
    ask(seam::hello{});
    for (int turns = 0; answer() == nullptr; ++turns) {
        ASSERT_LT(turns, most_turns);
        ASSERT_TRUE(turn()) << "nothing tells that it must be driven";
    }
    EXPECT_TRUE(std::holds_alternative<seam::done>(answer()->body));
}

TEST_F(compare_quorum_member, shows_that_the_time_of_a_call_is_over) {
    ask(seam::hello{});
    for (int turns = 0; answer() == nullptr; ++turns) {
        ASSERT_LT(turns, most_turns);
        ASSERT_TRUE(turn()) << "nothing tells that it must be driven";
    }
    EXPECT_TRUE(std::holds_alternative<seam::failure>(answer()->body));
}

// The same after it was driven for another reason: who waits sets no timer of its own for it.
TEST_F(compare_quorum_member, shows_it_also_after_it_was_driven_in_vain) {
    ask(seam::hello{});
    store_->interrupt();
    store_->drive(base::boot_clock::now());
    for (int turns = 0; answer() == nullptr; ++turns) {
        ASSERT_LT(turns, most_turns);
        ASSERT_TRUE(turn()) << "nothing tells that it must be driven";
    }
    EXPECT_TRUE(std::holds_alternative<seam::failure>(answer()->body));
}

// It would be driven again for nothing.
TEST_F(compare_quorum_member, shows_nothing_after_a_look_that_found_nothing) {
    driver_->answers = true;
    for (int looks = 0; looks < most_turns; ++looks) {
        store_->drive(base::boot_clock::now());
        ASSERT_FALSE(is_readable());
    }
}

// Nothing is pushed: whoever watches a name looks at it again and again, with growing pauses.
TEST_F(compare_quorum_member, shows_that_it_is_time_to_look) {
    driver_->answers = true;
    ask(seam::watch{{lock_kind::lock, "q", std::string{seam::holders_part}}});
    for (int turns = 0; driver_->looks < 5; ++turns) {
        ASSERT_LT(turns, most_turns);
        ASSERT_TRUE(turn()) << "nothing tells that it must be driven";
    }
    ASSERT_NE(answer(), nullptr);
    EXPECT_TRUE(std::holds_alternative<seam::done>(answer()->body));
}

}  // namespace
}  // namespace holdfast::stores::compare
