// The quorum behind the seam, over members that are not servers: how it drives them, and how it ends.
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/url.hpp"
#include "quorum/fake_member.hpp"
#include "stores/quorum/agreement.hpp"
#include "stores/quorum/settings.hpp"
#include "support/eventually.hpp"

extern "C" holdfast::seam::store_module const* holdfast_store_quorum_v1();

namespace holdfast::quorum_tests {
namespace {

using namespace std::chrono_literals;

class quorum_store : public testing::Test, seam::event_sink {
protected:
    /// Nobody answers later than that who works.
    static constexpr auto long_enough = 20s;

    quorum_store() {
        std::size_t next = 0;
        store_ = holdfast_store_quorum_v1()->make(
            {.url = base::url::parse("quorum+redis://a,b,c"),
             .self = {.id = seam::client_id{1}, .host = "here", .pid = 1, .label = "test"},
             .sink = *this,
             .log = [](log_level, std::string const&) {},
             .open = [&](base::url const&, seam::event_sink& to) -> std::unique_ptr<seam::store> {
                 return std::make_unique<fake_member>(servers_.at(next++), to);
             }});
    }

    seam::request_id send(seam::request what) {
        seam::request_id const id{++last_};
        if (auto at_once = store_->send(id, std::move(what))) on_reply(id, *std::move(at_once));
        return id;
    }
    /// Drives until it is answered.
    seam::reply_body answer_to(seam::request_id id) {
        auto const end = base::boot_clock::now() + long_enough;
        while (!replies_.contains(id) && base::boot_clock::now() < end)
            store_->drive(end);
        return replies_[id].body;
    }
    seam::reply_body ask(seam::request what) { return answer_to(send(std::move(what))); }

    seam::claim claim_of(std::string name) {
        seam::claim_spec spec{.name = std::move(name)};
        return {std::make_shared<seam::claim_spec const>(std::move(spec)),
                {seam::client_id{1}, ++last_}};
    }
    void acquire(std::string name) {
        ASSERT_TRUE(std::holds_alternative<seam::done>(ask(seam::hello{})));
        held_ = claim_of(std::move(name));
        auto const got = ask(seam::submit{.subject = held_, .not_after = seam::store_time::max()});
        ASSERT_TRUE(std::holds_alternative<seam::granted>(got)) << got.index();
    }
    void release() {
        auto const got = ask(seam::settle{.subject = held_});
        auto const* const ended = std::get_if<seam::settled>(&got);
        ASSERT_NE(ended, nullptr) << got.index();
        EXPECT_EQ(ended->how, seam::ending::released);
    }

    std::array<fake_server, 3> servers_;
    std::unique_ptr<seam::store> store_;

private:
    void on_reply(seam::request_id id, seam::reply answer) override {
        replies_.insert_or_assign(id, std::move(answer));
    }
    void on_notice(seam::notice) override {}

    std::map<seam::request_id, seam::reply> replies_;
    std::uint64_t last_{0};
    seam::claim held_{};
};

// A majority has answered whoever gave the name back. The third member is as one of SQL whose connections are busy.
TEST_F(quorum_store, that_is_shut_waits_until_members_have_ended_what_was_given_back) {
    acquire("q");
    ASSERT_EQ(servers_[2].holders("q"), 1U);
    servers_[2].turns_before_end = 5;
    release();
    ASSERT_EQ(servers_[2].holders("q"), 1U) << "there is nothing to wait for";
    store_->shut();
    EXPECT_EQ(servers_[2].holders("q"), 0U) << "it stays taken until its lease ends";
    for (auto const& each : servers_)
        EXPECT_TRUE(each.shut);
}

TEST_F(quorum_store, that_is_shut_does_not_wait_for_a_silent_member_for_long) {
    acquire("q");
    servers_[1].silent = true;
    release();
    support::stopwatch const since;
    store_->shut();
    EXPECT_LT(since.elapsed(), 10s);
    EXPECT_EQ(servers_[0].holders("q") + servers_[2].holders("q"), 0U);
    for (auto const& each : servers_)
        EXPECT_TRUE(each.shut);
}

TEST_F(quorum_store, gives_also_the_name_under_which_members_keep_their_record) {
    auto const name = stores::quorum::record_key().name;
    acquire(name);
    auto const listed = ask(seam::inspect{});
    auto const* const page = std::get_if<seam::page>(&listed);
    ASSERT_NE(page, nullptr) << listed.index();
    ASSERT_EQ(page->names.size(), 1U) << "the record is nobody's lock";
    EXPECT_EQ(page->names[0].name, name);
    release();
    EXPECT_TRUE(std::get<seam::page>(ask(seam::inspect{})).names.empty());
}

// As a client that has no processor for a while: everything is late, and has been answered.
TEST_F(quorum_store, reads_all_that_has_come_before_it_calls_a_member_silent) {
    acquire("p");  // now it is known how soon they answer
    for (auto& each : servers_)
        each.answers_in_a_turn = 1;
    std::vector<seam::request_id> asked;
    for (auto const* name : {"q", "r", "s", "t"})
        asked.push_back(
            send(seam::submit{.subject = claim_of(name), .not_after = seam::store_time::max()}));
    std::this_thread::sleep_for(500ms);
    for (auto const id : asked)
        EXPECT_TRUE(std::holds_alternative<seam::granted>(answer_to(id)));
    release();
}

// One server with two votes would be a majority of three.
TEST(quorum_settings, name_each_server_once_however_it_is_written) {
    auto const is_taken = [](std::string_view text) {
        try {
            (void)stores::quorum::settings::parse(base::url::parse(text));
            return true;
        } catch (std::system_error const& refused) {
            EXPECT_EQ(refused.code(), make_error_code(errc::bad_url)) << refused.what();
            return false;
        }
    };
    EXPECT_FALSE(is_taken("quorum+redis://a,a,b"));
    EXPECT_FALSE(is_taken("quorum+redis://a,a:6379,b"));
    EXPECT_FALSE(is_taken("quorum+rediss://a:6379,b,a"));
    EXPECT_FALSE(is_taken("quorum+postgres://a,a:5432,b/d"));
    EXPECT_FALSE(is_taken("quorum+mysql://a:3306,b,a/d"));
    EXPECT_FALSE(is_taken("quorum+redis://Db1,b,dB1"));
    EXPECT_TRUE(is_taken("quorum+redis://a,a:6380,b"));
    EXPECT_TRUE(is_taken("quorum+postgres://a,a:6379,b/d"));
}

TEST(quorum_settings, keep_the_spelling_that_the_record_is_made_of) {
    auto const found =
        stores::quorum::settings::parse(base::url::parse("quorum+redis://A,b:6379,c:1"));
    EXPECT_EQ(found.addresses, (std::vector<std::string>{"A", "b:6379", "c:1"}));
}

}  // namespace
}  // namespace holdfast::quorum_tests
