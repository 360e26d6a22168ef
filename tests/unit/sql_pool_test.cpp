// The pool of connections that databases share, over connections that do nothing by themselves.
#include <deque>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "stores/sql/pool.hpp"

namespace holdfast::stores::sql {

namespace {

using namespace std::chrono_literals;

struct fake_answer {
    std::optional<base::error> lost{};
    bool sent{true};
};

struct fake_exchange {
    std::string text;
    std::function<void(fake_answer)> done;
};

/// Tests say what becomes of it. `room`: so many exchanges may be under way.
class fake_connection {
public:
    using exchange = fake_exchange;
    using answer = fake_answer;

    class owner {
    public:
        virtual void on_ready(fake_connection& which) = 0;
        virtual void on_broken(fake_connection& which, base::error const& why) = 0;

    protected:
        ~owner() = default;
    };

    fake_connection(owner& tell, std::size_t room) : owner_{tell}, room_{room} {}

    void start(base::instant now) {
        ++starts;
        phase_ = phase::connecting;
        sent_ = now;
    }
    void send(exchange what, base::instant now) {
        sent_ = now;
        under_way.push_back(std::move(what));
    }
    void advance(std::uint32_t /*kinds*/, base::instant now) {
        if (now >= due() && silent) fail("too late");
    }
    void cut(base::error const& why) {
        phase_ = phase::off;
        for (auto& each : std::exchange(under_way, {}))
            each.done({.lost = why});
    }
    void abandon() noexcept {}

    [[nodiscard]] bool is_off() const noexcept { return phase_ == phase::off; }
    [[nodiscard]] bool is_ready() const noexcept { return phase_ == phase::ready; }
    [[nodiscard]] bool is_silent() const noexcept { return silent; }
    [[nodiscard]] bool has_room() const noexcept { return is_ready() && under_way.size() < room_; }
    [[nodiscard]] std::size_t unanswered() const noexcept { return under_way.size(); }
    [[nodiscard]] base::instant due() const noexcept {
        return is_off() || (is_ready() && under_way.empty()) ? base::never : sent_ + 3s;
    }

    void become_ready() {
        phase_ = phase::ready;
        owner_.on_ready(*this);
    }
    void answer_first() {
        auto const done = std::move(under_way.front().done);
        under_way.pop_front();
        done({});
        owner_.on_ready(*this);
    }
    void fail(char const* words) {
        base::error const why{errc::store_unavailable, words};
        cut(why);
        owner_.on_broken(*this, why);
    }

    std::deque<exchange> under_way;
    int starts{0};
    bool silent{true};  ///< nothing lies there to be read

private:
    enum class phase { off, connecting, ready };

    owner& owner_;
    std::size_t room_;
    phase phase_{phase::off};
    base::instant sent_{};
};

class sql_pool : public testing::TestWithParam<std::size_t> {
protected:
    void send(std::string text) {
        pool_.send({text,
                    [this, text](fake_answer const& found) {
                        answered_.push_back(text + (!found.lost   ? ""
                                                    : !found.sent ? " was not sent"
                                                                  : " was lost"));
                    }},
                   now_);
    }

    base::instant now_{base::instant{} + 1h};
    std::vector<std::string> answered_, told_;
    std::vector<fake_connection*> all_;
    pool<fake_connection> pool_{
        2,
        [this](net::poller::tag, fake_connection::owner& tell) {
            auto out = std::make_unique<fake_connection>(tell, GetParam());
            all_.push_back(out.get());
            return out;
        },
        {.on_down = [this](base::error const& why) { told_.push_back("down: " + why.text); },
         .on_up = [this](fake_connection const&) { told_.emplace_back("up"); }}};
};

INSTANTIATE_TEST_SUITE_P(one_at_a_time_and_pipelined, sql_pool, testing::Values(1U, 1000U));

TEST_P(sql_pool, the_first_exchange_opens_a_connection_and_waits_for_it) {
    send("a");
    send("b");
    EXPECT_EQ(all_[0]->starts + all_[1]->starts, 1) << "one at a time";
    all_[0]->become_ready();
    EXPECT_EQ(all_[0]->unanswered(), GetParam() == 1 ? 1U : 2U);
    all_[0]->answer_first();
    all_[0]->answer_first();
    EXPECT_EQ(answered_, (std::vector<std::string>{"a", "b"}));
}

TEST_P(sql_pool, another_one_is_opened_while_all_are_busy) {
    send("a");
    all_[0]->become_ready();
    send("b");
    EXPECT_EQ(all_[1]->starts, 1);
    all_[1]->become_ready();
    send("c");
    EXPECT_EQ(all_[1]->unanswered(), 1U) << "the less busy one has it";
}

TEST_P(sql_pool, what_cannot_be_sent_is_refused_with_the_failure_and_tried_again_after_a_pause) {
    send("a");
    all_[0]->fail("no server");
    EXPECT_EQ(answered_, std::vector<std::string>{"a was not sent"});
    EXPECT_EQ(told_, std::vector<std::string>{"down: no server"});
    send("b");
    EXPECT_EQ(all_[0]->starts + all_[1]->starts, 1) << "not before the pause is over";
    EXPECT_EQ(pool_.due(), now_ + 20ms);
    now_ += 20ms;
    pool_.tend(now_);
    EXPECT_EQ(all_[0]->starts + all_[1]->starts, 2);
}

TEST_P(sql_pool, what_was_sent_and_not_answered_is_lost_and_idle_ones_are_cut_with_it) {
    send("a");
    all_[0]->become_ready();
    send("b");
    all_[1]->become_ready();
    while (all_[0]->unanswered() > 0)
        all_[0]->answer_first();
    answered_.clear();
    while (all_[1]->unanswered() > 0)
        all_[1]->answer_first();
    answered_.clear();
    send("c");
    now_ += 3s;
    pool_.tend(now_);
    EXPECT_EQ(answered_, std::vector<std::string>{"c was lost"});
    EXPECT_TRUE(all_[0]->is_off());
    EXPECT_TRUE(all_[1]->is_off()) << "it would cost a time-out as well";
    EXPECT_FALSE(pool_.is_up());
}

// As after a pause of the whole process: the answer came in time, and nobody has read it yet.
TEST_P(sql_pool, an_answer_that_lies_there_is_not_too_late) {
    send("a");
    all_[0]->become_ready();
    send("b");
    all_[1]->become_ready();
    for (auto* const each : all_)
        while (each->unanswered() > 0)
            each->answer_first();
    EXPECT_FALSE(pool_.is_busy());
    answered_.clear();
    send("c");
    EXPECT_TRUE(pool_.is_busy());
    auto* const asked = all_[0]->unanswered() > 0 ? all_[0] : all_[1];
    asked->silent = false;
    now_ += 3s;
    pool_.tend(now_);
    EXPECT_TRUE(answered_.empty());
    EXPECT_FALSE(all_[0]->is_off());
    EXPECT_FALSE(all_[1]->is_off()) << "the network has not forgotten it";
    asked->answer_first();
    EXPECT_EQ(answered_, std::vector<std::string>{"c"});
}

TEST_P(sql_pool, one_that_breaks_beside_others_is_no_news) {
    send("a");
    all_[0]->become_ready();
    send("b");
    told_.clear();
    all_[1]->fail("too many connections");
    EXPECT_TRUE(told_.empty());
    send("c");
    EXPECT_EQ(all_[1]->starts, 1) << "not again at once";
}

}  // namespace

}  // namespace holdfast::stores::sql
