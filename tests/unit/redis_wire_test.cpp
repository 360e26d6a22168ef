// The protocol alone: what is sent, and what becomes of the bytes of a hostile server.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "stores/redis/answer.hpp"
#include "stores/redis/command.hpp"
#include "stores/redis/keys.hpp"
#include "stores/redis/native_layout.hpp"
#include "stores/redis/replies.hpp"

namespace holdfast::stores::redis {
namespace {

TEST(redis_command, is_an_array_of_texts) {
    command time{"TIME"};
    EXPECT_EQ(time.bytes(), "*1\r\n$4\r\nTIME\r\n");
    command set{"SET"};
    set << "a\r\n" << std::string_view{"\0", 1} << -5 << UINT64_MAX << "";
    EXPECT_EQ(set.bytes(), std::string_view("*6\r\n$3\r\nSET\r\n$3\r\na\r\n\r\n$1\r\n\0\r\n$2\r\n-5"
                                            "\r\n$20\r\n18446744073709551615\r\n$0\r\n\r\n",
                                            70));
    script const it{"x", "0123", "return 1"};
    command call{it, 1};
    call << "key";
    EXPECT_EQ(call.bytes(), "*4\r\n$7\r\nEVALSHA\r\n$4\r\n0123\r\n$1\r\n1\r\n$3\r\nkey\r\n");
    EXPECT_EQ(call.calls(), &it);
}

TEST(redis_answer, is_taken_apart) {
    answer_parser parser;
    parser.feed("*4\r\n:-7\r\n$3\r\na");
    answer it;
    EXPECT_FALSE(parser.next(it)) << "not all of it is there";
    parser.feed("bc\r\n*1\r\n+OK\r\n$-1\r\n-ERR no\r\n");
    ASSERT_TRUE(parser.next(it));
    answer_reader in{it};
    EXPECT_EQ(in.array(), 4U);
    EXPECT_EQ(in.integer(), -7);
    EXPECT_EQ(in.text(), "abc");
    in.skip();
    EXPECT_EQ(in.peek(), answer::kind::nothing);
    in.skip();
    EXPECT_TRUE(in.at_end());
    EXPECT_THROW((void)in.text(), garbled);
    ASSERT_TRUE(parser.next(it));
    EXPECT_EQ(it.error_words(), "ERR no");
    EXPECT_FALSE(parser.next(it));
}

TEST(redis_answer, what_is_not_expected_is_garbled) {
    answer_parser parser;
    parser.feed("*3\r\n$2\r\n-1\r\n$20\r\n18446744073709551616\r\n:-1\r\n");
    answer it;
    ASSERT_TRUE(parser.next(it));
    answer_reader in{it};
    EXPECT_THROW(in.array(2), garbled);
    EXPECT_THROW((void)in.number(), garbled);
    EXPECT_THROW((void)in.number(), garbled);
    EXPECT_THROW((void)in.number(), garbled);
}

TEST(redis_answer, a_server_cannot_make_us_take_memory) {
    for (std::string_view const hostile :
         {"*2000000000\r\n", "*9223372036854775807\r\n", "*1000\r\n*1000\r\n:1\r\n", "*-2\r\n",
          "$-7\r\n", "$99999999999999999999\r\n", ":12x\r\n", "HTTP/1.1 400 Bad Request\r\n",
          "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"}) {
        answer_parser parser{{.bytes = 4096, .items = 100}};
        answer it;
        EXPECT_THROW(
            {
                parser.feed(hostile);
                while (parser.next(it)) {}
                for (int i = 0; i < 200; ++i) {
                    parser.feed(":1\r\n");
                    while (parser.next(it)) {}
                }
                parser.feed(std::string(5000, 'x'));
                while (parser.next(it)) {}
            },
            garbled)
            << hostile;
    }
}

TEST(redis_answer, lines_are_short_and_texts_may_be_long) {
    answer_limits const limits{.bytes = 1 << 20, .line = 1024};
    std::string const text(300'000, 'a');
    answer_parser patient{limits};
    answer whole;
    patient.feed("$300000\r\n");
    for (std::size_t at = 0; at < text.size(); at += 1000) {
        patient.feed(std::string_view{text}.substr(at, 1000));
        ASSERT_FALSE(patient.next(whole));
    }
    patient.feed("\r\n");
    ASSERT_TRUE(patient.next(whole));
    answer_reader in{whole};
    EXPECT_EQ(in.text(), text);
    for (std::string_view const head : {"+", "-", ":", "$", "*", "$1048577\r\n"}) {
        answer_parser strict{limits};
        strict.feed(head);
        ASSERT_FALSE(strict.next(whole));
        strict.feed(std::string(1100, '1'));
        EXPECT_THROW((void)strict.next(whole), garbled) << head;
    }
}

TEST(redis_answer, long_texts_end_at_the_limit) {
    answer_parser parser{{.bytes = 1024, .items = 100}};
    answer it;
    std::string const part = "$100\r\n" + std::string(100, 'a') + "\r\n";
    parser.feed("*50\r\n");
    EXPECT_THROW(
        {
            for (int i = 0; i < 50; ++i) {
                parser.feed(part);
                EXPECT_FALSE(parser.next(it));
            }
        },
        garbled);
    answer_parser other{{.bytes = 1024, .items = 100}};
    EXPECT_THROW(
        {
            other.feed("$1000000\r\n");
            for (int i = 0; i < 50; ++i)
                other.feed(part);
        },
        garbled);
}

TEST(redis_answer, random_bytes_do_no_harm) {
    std::mt19937 random{7};
    std::string_view const alphabet = "*$:+-0123456789\r\n\r\nab";
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes;
        for (auto left = random() % 60; left > 0; --left)
            bytes += alphabet[random() % alphabet.size()];
        answer_parser parser{{.bytes = 4096, .items = 64}};
        answer it;
        try {
            parser.feed(bytes);
            while (parser.next(it)) {
                answer_reader in{it};
                while (!in.at_end())
                    in.skip();
            }
        } catch (garbled const&) {
            continue;
        }
    }
}

std::string tag_of(std::string_view name) {
    std::string out;
    append_tag(out, name);
    return out;
}

TEST(redis_keys, a_name_that_is_odd_is_hashed) {
    EXPECT_EQ(tag_of("orders/42"), "orders/42");
    EXPECT_EQ(tag_of(std::string(128, 'x')), std::string(128, 'x'));
    EXPECT_EQ(tag_of("a{b}c"), "a_b_c~" + short_digest("a{b}c"));
    EXPECT_EQ(tag_of(std::string(129, 'x')),
              std::string(64, 'x') + "~" + short_digest(std::string(129, 'x')));
    auto const like_a_hash = "x~" + std::string(32, 'a');
    EXPECT_NE(tag_of(like_a_hash), like_a_hash);
    EXPECT_FALSE(is_plain_tag(tag_of(like_a_hash)));
    std::string euros;
    for (int i = 0; i < 60; ++i)
        euros += "\u20ac";
    EXPECT_EQ(tag_of(euros).find('~'), 63U) << "cut between characters";
    EXPECT_EQ(short_digest("abc"), "ba7816bf8f01cfea414140de5dae2223");
}

TEST(redis_keys, patterns_mean_what_they_say) {
    key_space const keys{"h*:"};
    EXPECT_EQ(keys.pattern("a[{", false), "h\\*:name:{a\\[?*}");
    EXPECT_EQ(keys.tag_in("h*:name:{q}"), "q");
    EXPECT_EQ(keys.tag_in("h*:condition:{q}"), "q");
    EXPECT_EQ(keys.tag_in("h*:name:{q}:claims"), "");
    EXPECT_EQ(keys.tag_in("other"), "");
}

TEST(redis_messages, are_hints_and_distrusted) {
    native_layout const layout{"p:",
                               {.id = seam::client_id{0xabc}, .host = {}, .label = {}},
                               claim_secrets{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL}};
    EXPECT_EQ(layout.channel(), "p:client:0000000000000abc");
    auto const granted = layout
                             .read(
                                 "granted 000000000000000f 77 1000 1 00000000000000c1 "
                                 "2e39b3699d6acb80ff50d8927418af006d16f121")
                             .notice;
    ASSERT_TRUE(granted);
    auto const& hold = std::get<seam::claim_granted>(*granted);
    EXPECT_EQ(hold.id, (seam::claim_id{seam::client_id{0xabc}, 15}));
    EXPECT_EQ(hold.held.number, seam::sequence{77});
    EXPECT_TRUE(hold.held.contended);
    EXPECT_EQ(hold.clock, seam::clock_id{0xc1});
    auto const gone = layout.read("gone 000000000000000f 1001 it was evicted").notice;
    ASSERT_TRUE(gone);
    EXPECT_EQ(std::get<seam::claim_gone>(*gone).why, "it was evicted");
    auto const changed = layout.read("changed 2 1001 3 a bpart").notice;
    ASSERT_TRUE(changed);
    EXPECT_EQ(std::get<seam::changed>(*changed).key,
              (seam::cell_key{lock_kind::latch, "a b", "part"}));
    for (std::string_view const nonsense :
         {"", " ", "granted", "granted 0f 1 1 1", "granted 000000000000000f x 1 1",
          "granted 000000000000000f 1 1 2", "changed 9 1 1 a", "changed 2 1 99 a", "hello",
          "gone 000000000000000f", "granted 000000000000000f 99999999999999999999 1 1",
          "granted 000000000000000e 77 1000 1 00000000000000c1 "
          "2e39b3699d6acb80ff50d8927418af006d16f121",
          "granted 000000000000000f 77 1000 0 00000000000000c1 "
          "2e39b3699d6acb80ff50d8927418af006d16f121",
          "granted 000000000000000f 77 1000 1 00000000000000c1 "
          "2E39B3699D6ACB80FF50D8927418AF006D16F121",
          "granted 000000000000000f 77 1000 1 00000000000000c1  "
          "2e39b3699d6acb80ff50d8927418af006d16f121",
          "granted 000000000000000f 2e39b3699d6acb80ff50d8927418af006d16f121",
          "granted 000000000000000f 77 1000 1 00000000000000c2 "
          "2e39b3699d6acb80ff50d8927418af006d16f121",
          "granted 000000000000000f 77 1000 1", "granted 000000000000000f "})
        EXPECT_FALSE(layout.read(nonsense).notice) << nonsense;
}

TEST(redis_messages, secrets_are_those_of_siphash) {
    // As `openssl mac -macopt hexkey:000102…0f -macopt size:16 SIPHASH` has them.
    claim_secrets const secrets{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
    auto const shown = [&](std::uint64_t client, std::uint64_t number) {
        std::string out;
        for (auto const byte : secrets.of({seam::client_id{client}, number}))
            out += base::hex(static_cast<unsigned char>(byte)).substr(14);
        return out;
    };
    EXPECT_EQ(shown(0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL),
              "6ee2a4ca67b054bbfd3315bf85230577");
    EXPECT_EQ(shown(0xabc, 15), "3ab67d69506dd9c83684aab7bd382266");
    EXPECT_NE(claim_secrets{}.of({}), claim_secrets{}.of({})) << "each client has its own";
}

TEST(redis_messages, netstrings) {
    std::string text;
    append_netstring(text, "a:b");
    append_netstring(text, "");
    EXPECT_EQ(text, "3:a:b0:");
    std::string_view left = text;
    EXPECT_EQ(take_netstring(left), "a:b");
    EXPECT_EQ(take_netstring(left), "");
    EXPECT_THROW((void)take_netstring(left), garbled);
    for (std::string_view nonsense : {"9:a", ":a", "-1:a", "a", "99999999999999999999999:a"})
        EXPECT_THROW((void)take_netstring(nonsense), garbled);
}

TEST(redis_replies, renewals_are_under_way_by_some_at_a_time) {
    constexpr std::size_t names = 600;
    std::vector<renew_exchange::group> groups;
    for (std::size_t i = 0; i < names; ++i)
        groups.push_back({i});
    renew_exchange it{names, std::move(groups),
                      [](renew_exchange::group const&) { return command{"RENEW"}; }};
    auto const some = it.outbox.size();
    EXPECT_LT(some, names / 2);
    it.outbox.clear();
    answer_parser parser;
    answer alive;
    parser.feed("*5\r\n:1000\r\n$5\r\nalive\r\n:7\r\n:900\r\n:0\r\n");
    ASSERT_TRUE(parser.next(alive));
    base::error const sick{errc::kind_mismatch, "this name"};
    base::error const silent{errc::store_unavailable, "no connection"};
    std::size_t sent = some;
    for (std::size_t i = 0; i < sent; ++i) {
        if (i == names - 1) {
            it.on_cut(i, silent);
        } else if (i % 2 == 0) {
            it.on_answer(i, alive);
        } else {
            it.on_failure(i, sick);
        }
        EXPECT_LE(it.outbox.size(), 1U);
        sent += it.outbox.size();
        it.outbox.clear();
    }
    EXPECT_EQ(sent, names) << "each is asked for once";
    auto const all = std::get<seam::renewed>(it.finish().body).items;
    for (std::size_t i = 0; i < names; ++i)
        EXPECT_EQ(all[i].found == seam::renewal::status::alive, i % 2 == 0);
}

TEST(redis_replies, without_a_connection_no_more_renewals_are_made) {
    std::vector<renew_exchange::group> groups;
    for (std::size_t i = 0; i < 600; ++i)
        groups.push_back({i});
    renew_exchange it{600, std::move(groups),
                      [](renew_exchange::group const&) { return command{"RENEW"}; }};
    auto const some = it.outbox.size();
    it.outbox.clear();
    for (std::size_t i = 0; i < some; ++i)
        it.on_cut(i, {errc::store_unavailable, "no connection"});
    EXPECT_TRUE(it.outbox.empty());
    EXPECT_TRUE(std::holds_alternative<seam::failure>(it.finish().body));
}

TEST(redis_replies, answers_of_scripts_are_checked) {
    auto const parse = [](std::string_view bytes) {
        answer_parser parser;
        parser.feed(bytes);
        answer out;
        EXPECT_TRUE(parser.next(out));
        return out;
    };
    auto const short_one = parse("*1\r\n:5\r\n");
    answer_reader one{short_one};
    EXPECT_THROW((void)read_head(one), garbled);
    auto const late = parse("*2\r\n:9223372036854775807\r\n+x\r\n");
    answer_reader two{late};
    EXPECT_THROW((void)read_head(two), garbled);
    auto const time = parse("*2\r\n$1\r\n5\r\n$1\r\n7\r\n");
    answer_reader three{time};
    EXPECT_EQ(read_server_time(three).now.time_since_epoch().count(), 5'000'007);
}

}  // namespace
}  // namespace holdfast::stores::redis
