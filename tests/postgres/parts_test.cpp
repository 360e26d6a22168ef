// Parts of the PostgreSQL store alone: URLs, errors, payloads.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/url.hpp"
#include "stores/postgres/fault.hpp"
#include "stores/postgres/letters.hpp"
#include "stores/postgres/messages.hpp"
#include "stores/postgres/settings.hpp"

namespace holdfast::stores::postgres {
namespace {

settings parsed(std::string const& url) { return settings::parse(base::url::parse(url)); }

std::string parameter_of(settings const& of, std::string const& key) {
    for (auto const& [name, value] : of.parameters)
        if (name == key) return value;
    return {};
}

std::string refusal_of(std::string const& url) {
    try {
        (void)parsed(url);
    } catch (std::system_error const& error) {
        EXPECT_EQ(error.code(), errc::bad_url);
        return error.what();
    }
    return {};
}

TEST(postgres_settings, parts_of_a_url) {
    auto const found = parsed(
        "postgres://app:s%40cret@db1:5433,[::1]/locks?prefix=tools.hf_&connections=2&timeout=1s");
    EXPECT_EQ(parameter_of(found, "host"), "db1,::1");
    EXPECT_EQ(parameter_of(found, "port"), "5433,");
    EXPECT_EQ(parameter_of(found, "dbname"), "locks");
    EXPECT_EQ(parameter_of(found, "user"), "app");
    EXPECT_EQ(parameter_of(found, "password"), "s@cret");
    EXPECT_EQ(parameter_of(found, "target_session_attrs"), "read-write");
    EXPECT_EQ(found.prefix, "tools.hf_");
    EXPECT_EQ(found.connections, 2U);
    EXPECT_EQ(found.timeout, std::chrono::seconds{1});
    EXPECT_EQ(found.server, "postgres://db1:5433,[::1]");
}

TEST(postgres_settings, what_is_left_out_is_left_to_libpq) {
    auto const found = parsed("postgres:///locks");
    for (auto const* const key : {"host", "port", "user", "password", "sslmode"})
        EXPECT_EQ(parameter_of(found, key), "") << key;
    EXPECT_EQ(found.connections, 4U);
    EXPECT_EQ(parameter_of(parsed("postgres://%2Frun%2Fpostgresql/x"), "host"), "/run/postgresql");
}

TEST(postgres_settings, an_authority_is_asked) {
    auto const found = parsed("postgres://h/x?ca=/etc/ca.pem&cert=/c&key=/k");
    EXPECT_EQ(parameter_of(found, "sslmode"), "verify-full");
    EXPECT_EQ(parameter_of(found, "sslrootcert"), "/etc/ca.pem");
    EXPECT_EQ(parameter_of(parsed("postgres://h/x?ca=/a&sslmode=verify-ca"), "sslmode"),
              "verify-ca");
}

TEST(postgres_settings, what_is_refused) {
    EXPECT_NE(refusal_of("postgres://h/x?prefx=a").find("prefix"), std::string::npos);
    EXPECT_NE(refusal_of("postgres://h/x?sslmode=maybe").find("verify-full"), std::string::npos);
    EXPECT_NE(refusal_of("postgres://h/x?connections=0"), "");
    EXPECT_NE(refusal_of("postgres://h/x?cert=/c"), "");
    EXPECT_NE(refusal_of("postgres://h/x?sslmode=disable&ca=/c"), "");
    for (auto const* const prefix : {"1a", "A", "a-b", "a.b.c", "a%27b", ".a", "a.1"})
        EXPECT_NE(refusal_of(std::string{"postgres://h/x?prefix="} + prefix), "") << prefix;
    EXPECT_NE(refusal_of("postgres://u:p@h/x?passwordfile=/nowhere"), "");
}

TEST(postgres_faults, the_password_is_in_no_error) {
    auto const of = parsed("postgres://u:sesame@h/x");
    EXPECT_EQ(unreachable("FATAL:  28P01: no, sesame\nLOCATION: x", of).text.find("sesame"),
              std::string::npos);
    EXPECT_TRUE(unreachable("SCHWERWIEGEND:  28P01: nein", of).is(errc::access_denied));
    EXPECT_TRUE(unreachable("connection refused", of).is(errc::store_unavailable));
    EXPECT_TRUE(explain("53300", "full", of).is(errc::store_unavailable));
}

TEST(postgres_letters, bytes_come_back_as_they_were) {
    std::string every;
    for (int i = 0; i < 256; ++i) {
        EXPECT_EQ(decoded(encoded(every)), every);
        every.push_back(static_cast<char>(i));
    }
    EXPECT_EQ(decoded("a b"), std::nullopt);
}

TEST(postgres_letters, a_long_one_comes_in_pieces) {
    std::string const whole(3 * letter_room + 7, 'x');
    std::string joined;
    bool last = false;
    for (auto const& piece : letter_pieces(whole)) {
        EXPECT_FALSE(last);
        EXPECT_LT(piece.size(), 7'900U);
        auto const found = read_payload("L 5 9 1 " + piece);
        ASSERT_TRUE(found);
        auto const& letter = std::get<letter_heard>(*found);
        EXPECT_EQ(letter.to, compare::session_id{5});
        EXPECT_EQ(letter.written, compare::stamp{9});
        joined += letter.body;
        last = letter.whole;
    }
    EXPECT_TRUE(last);
    EXPECT_EQ(joined, whole);
}

TEST(postgres_letters, what_others_say_is_nothing) {
    for (auto const* const payload :
         {"", "L", "L x 1 1 .YQ", "L 1 1 1 YQ", "C f a!", "hello", "L 1 1 1 ."})
        if (auto const found = read_payload(payload)) {
            EXPECT_STREQ(payload, "L 1 1 1 .");
        }
    auto const changed = read_payload(change_payload({"a b\xff", true}));
    ASSERT_TRUE(changed);
    EXPECT_EQ(std::get<change_heard>(*changed).key, (compare::name_key{"a b\xff", true}));
}

// The store leaves out watches that nobody asks for any more. A client that was stopped for longer than they are kept has
// missed what changed meanwhile, though its connection has lasted.
TEST(postgres_messages, watches_that_were_not_asked_for_in_time_are_a_gap) {
    using namespace std::chrono_literals;
    auto const to = parsed("postgres://h/x");
    schema const tables{to.prefix};
    statements const texts{to.prefix};
    net::poller events;
    base::instant now{1h};
    compare::outbox out;
    int asked = 0;
    messages heard{to,
                   tables,
                   texts,
                   events,
                   0,
                   now,
                   out,
                   {.send =
                        [&](std::vector<statement>, std::function<void(answer)> const& done) {
                            ++asked;
                            done(answer{});
                        },
                    .is_down = [] { return false; }}};
    auto const gaps_after = [&](base::boot_clock::duration passes) {
        now += passes;
        heard.tend();
        return std::ranges::count_if(out.take(), [](auto const& each) {
            return std::holds_alternative<compare::outbox::told_gap>(each);
        });
    };
    heard.watch({"q", false});
    EXPECT_EQ(gaps_after(20s), 0);
    EXPECT_EQ(gaps_after(50s), 0);
    EXPECT_EQ(gaps_after(61s), 1);
    EXPECT_EQ(gaps_after(20s), 0);
    EXPECT_EQ(asked, 4);
    // A name that is watched after a time in which none was.
    EXPECT_TRUE(heard.unwatch({"q", false}));
    EXPECT_EQ(gaps_after(20s), 0);
    now += 1h;
    heard.watch({"r", false});
    EXPECT_EQ(gaps_after(20s), 0);
}

}  // namespace
}  // namespace holdfast::stores::postgres
