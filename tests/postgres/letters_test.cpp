// What strangers say on a client's channel.
#include "stores/postgres/letters.hpp"

#include "postgres/driver_fixture.hpp"

namespace holdfast::postgres_tests {
namespace {

/// Where a client listens.
class channel {
public:
    explicit channel(party const& of)
        : name_{server().ask("SELECT listener FROM holdfast_session WHERE id = " +
                             words_of(of.session))} {
        name_.pop_back();  // the end of the line
    }
    void say(std::string const& payload) const {
        server().ask("SELECT pg_notify('" + name_ + "', '" + payload + "')");
    }
    void say(compare::session_id to, std::string const& piece, int number = 1) const {
        say("L " + words_of(to) + " 1 " + std::to_string(number) + " " + piece);
    }

private:
    std::string name_;
};

TEST(postgres_letters, only_those_to_sessions_of_our_own_are_taken) {
    party one;
    channel const of{one};
    of.say(new_session(), ".YQ");
    of.say(one.session, ".Yg");
    ASSERT_TRUE(one.self.drive_until([&] { return !one.self.letters.empty(); }));
    EXPECT_EQ(one.self.letters.front().to, one.session);
    EXPECT_EQ(one.self.letters.size(), 1U);
}

// Nobody fills a client's memory with pieces of a letter that has no end. What was too long counts as missed.
TEST(postgres_letters, a_letter_without_end_is_a_gap) {
    party one;
    channel const of{one};
    auto const piece = "+" + postgres::encoded(std::string(5'000, 'x'));
    for (int number = 1; number <= 30; ++number)
        of.say(one.session, piece, number);
    of.say(one.session, ".YQ", 31);
    of.say(one.session, ".Yg", 32);
    ASSERT_TRUE(one.self.drive_until([&] { return !one.self.letters.empty(); }));
    EXPECT_EQ(one.self.letters.front().body, "b");
    EXPECT_EQ(one.self.gaps, 1);
}

}  // namespace
}  // namespace holdfast::postgres_tests
