// Messages that somebody else publishes on a client's channel: no right on a key is needed for that.
#include <algorithm>
#include <string>
#include <vector>

#include "unit/redis_fixture.hpp"

namespace holdfast::test {
namespace {

class redis_forgery : public redis_test {
protected:
    /// Somebody with no right but to publish and to hear what is published.
    [[nodiscard]] static support::redis_server const& with_spy() {
        server().ask({"ACL", "SETUSER", "spy", "reset", "on", ">s3cret", "resetchannels", "&*",
                      "+subscribe", "+publish"});
        return server();
    }

    void SetUp() override {
        EXPECT_EQ(spy.ask({"GET", "holdfast:name:{q}"}).find("-NOPERM"), 0U) << "it may not read";
        ASSERT_TRUE(is_granted(holder.submit(holding, true)));
        ASSERT_TRUE(is_queued(waiter.submit(waiting, true)));
        ASSERT_TRUE(waiter.listens(server()));
    }

    [[nodiscard]] static std::string channel(peer const& of) {
        return "holdfast:client:" + base::hex(static_cast<std::uint64_t>(of.id()));
    }

    [[nodiscard]] static std::string grant_of(seam::claim const& claim) {
        auto now = server().ask({"TIME"});  // seconds, and microseconds in another line
        auto const micros = now.substr(now.find('\n') + 1);
        now = now.substr(0, now.find('\n')) + std::string(6 - micros.size(), '0') + micros;
        return "granted " + base::hex(claim.id.number) + " " + now + " " + now + " 0 " + now;
    }

    /// Publishes, and waits until the waiter has seen it: messages arrive in their order.
    [[nodiscard]] std::optional<seam::claim_granted> told(std::string const& message) {
        EXPECT_EQ(spy.ask({"PUBLISH", channel(waiter), message}), "1");
        auto const last = "contended " + base::hex(waiting.id.number) + " 1";
        EXPECT_EQ(spy.ask({"PUBLISH", channel(waiter), last}), "1");
        EXPECT_TRUE(waiter.next<seam::name_contended>());
        return waiter.next<seam::claim_granted>(0s);
    }

    /// Hears the grant that the waiter is told by right, and lets the holder come again.
    [[nodiscard]] std::string overhear() {
        support::redis_user ear{server(), "spy", "s3cret"};
        EXPECT_NE(ear.ask({"SUBSCRIBE", channel(waiter)}), "");
        EXPECT_EQ(holder.settle(holding), seam::ending::released);
        auto const heard = ear.hear();
        EXPECT_TRUE(waiter.next<seam::claim_granted>());
        return heard.substr(heard.rfind('\n') + 1);
    }

    support::redis_user spy{with_spy(), "spy", "s3cret"};
    peer holder{server().url()};
    peer waiter{server().url()};
    seam::claim holding{holder.claim("q")};
    seam::claim waiting{waiter.claim("q")};
};

std::size_t lines(std::string const& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST_F(redis_forgery, a_grant_without_a_proof_is_none) {
    auto const grant = grant_of(waiting);
    for (auto const& end : {std::string{}, std::string{" "}, " " + std::string(40, '0'),
                            " " + std::string(39, 'f'), " " + std::string(80, 'a')})
        EXPECT_FALSE(told(grant + end)) << end;
    EXPECT_EQ(waiter.renew(waiting).found, seam::renewal::status::waiting);
    EXPECT_EQ(holder.settle(holding), seam::ending::released);
    auto const granted = waiter.next<seam::claim_granted>();
    ASSERT_TRUE(granted) << "the true one counts";
    EXPECT_EQ(granted->id, waiting.id);
}

TEST_F(redis_forgery, is_logged_once_and_then_ever_more_rarely) {
    auto const before = lines(waiter.log());
    EXPECT_FALSE(told(grant_of(waiting)));
    EXPECT_EQ(lines(waiter.log()), before + 1) << waiter.log();
    EXPECT_NE(waiter.log().find("channels"), std::string::npos) << "it says what to do";
    for (int i = 1; i < 99; ++i)
        EXPECT_EQ(spy.ask({"PUBLISH", channel(waiter), grant_of(waiting)}), "1");
    EXPECT_FALSE(told(grant_of(waiting)));
    EXPECT_EQ(lines(waiter.log()), before + 3) << waiter.log();
}

TEST_F(redis_forgery, what_proved_one_grant_proves_no_other) {
    auto const heard = overhear();
    EXPECT_EQ(waiter.settle(waiting), seam::ending::released);
    holding = holder.claim("q");
    ASSERT_TRUE(is_granted(holder.submit(holding)));
    auto const first = waiting;
    waiting = waiter.claim("q");
    ASSERT_TRUE(is_queued(waiter.submit(waiting, true)));

    auto const again = told(heard);
    EXPECT_TRUE(!again || again->id == first.id) << "its claim is over";
    auto const proof = heard.substr(heard.rfind(' '));
    EXPECT_FALSE(told(grant_of(waiting) + proof));
    auto other = heard;
    EXPECT_FALSE(told(other.replace(8, 16, base::hex(waiting.id.number))));
    EXPECT_EQ(waiter.renew(waiting).found, seam::renewal::status::waiting);
}

// A claim whose answers and messages were lost is asked for again by the same id, perhaps when its
// first grant is long over. That grant may be told again; it ends when it ended.
TEST_F(redis_forgery, an_old_grant_of_a_claim_that_waits_again_is_not_made_younger) {
    auto const heard = overhear();
    auto const held = waiter.renew(waiting);
    ASSERT_EQ(held.found, seam::renewal::status::alive);
    EXPECT_EQ(waiter.settle(waiting), seam::ending::released);
    holding = holder.claim("q");
    auto const granted = holder.submit(holding);
    ASSERT_TRUE(is_granted(granted));
    ASSERT_TRUE(is_queued(waiter.submit(waiting, true))) << "the same id";

    auto const proof = heard.substr(heard.rfind(' '));
    EXPECT_FALSE(told(grant_of(waiting) + proof)) << "another time, another token";
    auto words = heard;
    auto const contended = words.rfind(" 0 ");
    ASSERT_NE(contended, std::string::npos) << heard;
    EXPECT_FALSE(told(words.replace(contended, 3, " 1 ")));
    auto const again = told(heard);
    EXPECT_TRUE(!again || again->held.began <= held.held.began);
}

TEST_F(redis_forgery, a_claim_that_is_sent_again_is_granted_by_the_same_proof) {
    EXPECT_TRUE(is_queued(waiter.submit(waiting, true)));
    EXPECT_EQ(waiter.renew(waiting).found, seam::renewal::status::waiting);
    EXPECT_TRUE(is_queued(waiter.submit(waiting, true)));
    EXPECT_EQ(holder.settle(holding), seam::ending::released);
    EXPECT_TRUE(waiter.next<seam::claim_granted>());
}

TEST_F(redis_forgery, no_listing_shows_what_proves_a_grant) {
    auto const mine = std::get<seam::page>(waiter.send(seam::inspect{"q", {}, true}).body);
    ASSERT_EQ(mine.names.size(), 1U);
    ASSERT_EQ(mine.names.front().waiters.size(), 1U);
    auto const& shown = mine.names.front().waiters.front();
    auto const fields = server().ask({"HVALS", "holdfast:name:{q}:claims"});
    auto const id = fields.find(seam::to_string(waiting.id));
    ASSERT_NE(id, std::string::npos);
    auto const secret = fields.substr(id + 33, 16);
    for (auto const& text : {shown.id, shown.owner, shown.label, shown.host, shown.value})
        EXPECT_EQ(text.find(secret), std::string::npos) << text;
    EXPECT_EQ(overhear().find(secret), std::string::npos) << "nor does the message";
}

}  // namespace
}  // namespace holdfast::test
