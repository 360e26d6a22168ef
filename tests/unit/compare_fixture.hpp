// A machine of the stores that compare over a driver that answers what the test says.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stores/compare/machine.hpp"

namespace holdfast::stores::compare {

using namespace std::chrono_literals;

inline seam::store_time at(std::chrono::microseconds since) { return seam::store_time{since}; }

/// Keeps what it was asked for until the test answers.
class scripted_driver final : public driver {
public:
    struct call {
        char const* verb;
        ticket which{};
        session_id session{};
        step what{};
    };
    std::deque<call> calls;
    std::vector<session_id> closed;
    driver_traits has{};

    driver_traits traits() const override { return has; }
    void open(ticket which, session_id id, std::chrono::milliseconds, std::string) override {
        calls.push_back({"open", which, id, {}});
    }
    void keep(ticket which, std::vector<session_id> ids) override {
        calls.push_back({"keep", which, ids.front(), {}});
    }
    void raise(ticket which, session_id id) override { calls.push_back({"raise", which, id, {}}); }
    void close(session_id id) noexcept override { closed.push_back(id); }
    void fetch(ticket which, query) override { calls.push_back({"fetch", which, {}, {}}); }
    void list(ticket which, listing) override { calls.push_back({"list", which, {}, {}}); }
    void commit(ticket which, step what) override {
        auto const self = what.self;
        calls.push_back({"commit", which, self, std::move(what)});
    }
    void watch(ticket which, name_key) override { calls.push_back({"watch", which, {}, {}}); }
    void unwatch(name_key) noexcept override {}
    void watch_session(session_id) override {}
    void unwatch_session(session_id) noexcept override {}
    void drive(base::instant) override {}
    void interrupt() noexcept override {}
    void shut() noexcept override {}
    int descriptor() noexcept override { return -1; }
};

class machine_fixture : public testing::Test {
protected:
    [[nodiscard]] static seam::claim claim(std::uint64_t number, std::chrono::seconds lease,
                                           std::string name = "n") {
        auto spec = std::make_shared<seam::claim_spec>();
        spec->name = std::move(name);
        spec->lease = lease;
        return {.spec = spec, .id = {seam::client_id{7}, number}, .actor = seam::actor_id{9}};
    }

    void ask(seam::request what) { machine_.take(seam::request_id{++requests_}, what); }
    void submit(seam::claim const& subject) {
        ask(seam::submit{.subject = subject, .queue = true, .not_after = seam::store_time::max()});
    }

    /// The call that was made first, which must be of this kind.
    scripted_driver::call next(std::string const& verb) {
        EXPECT_FALSE(driver_.calls.empty()) << "no " << verb;
        if (driver_.calls.empty()) return {"nothing"};
        auto out = std::move(driver_.calls.front());
        driver_.calls.pop_front();
        EXPECT_EQ(out.verb, verb);
        return out;
    }
    void answer(scripted_driver::call const& to, outcome what) {
        machine_.on_outcome(to.which, std::move(what), {at(now_), seam::clock_id{}});
    }
    void open_session() {
        answer(next("open"), opened{.current = stamp{++stamps_}, .lease = 30s, .began = at(now_)});
    }
    /// Takes a free name.
    void hold(seam::claim const& subject, bool opens) {
        submit(subject);
        if (opens) open_session();
        answer(next("commit"), committed{.written = stamp{++stamps_}});
        EXPECT_TRUE(std::holds_alternative<seam::granted>(reply().body));
    }
    [[nodiscard]] seam::reply reply() {
        auto made = machine_.take_results();
        EXPECT_EQ(made.replies.size(), 1U);
        for (auto const& notice : made.notices)
            told_.push_back(notice);
        return made.replies.empty() ? seam::reply{} : made.replies.front().second;
    }
    [[nodiscard]] bool told_of_loss() {
        for (auto const& notice : machine_.take_results().notices)
            told_.push_back(notice);
        return std::ranges::any_of(told_, [](seam::notice const& each) {
            auto const* const changed = std::get_if<seam::session_changed>(&each);
            return changed != nullptr && changed->became == seam::session_changed::state::lost;
        });
    }

    std::chrono::microseconds now_{100s};
    std::uint64_t requests_{0};
    std::uint64_t stamps_{0};
    std::uint64_t draws_{0};
    scripted_driver driver_;
    std::vector<seam::notice> told_;
    machine machine_{driver_,
                     {.self =
                          [] {
                              auto self = std::make_shared<seam::identity>();
                              self->id = seam::client_id{7};
                              return self;
                          }(),
                      .clocks = {.boot = [this] { return base::instant{now_}; },
                                 .wall = [this] { return now_.count(); }},
                      .entropy = [this] { return ++draws_; },
                      .log = [](log_level, std::string const&) {}}};
};

}  // namespace holdfast::stores::compare
