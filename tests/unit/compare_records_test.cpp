// What the family of stores that compare writes into a store, and reads again from whoever wrote it.
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "stores/compare/fields.hpp"
#include "stores/compare/head.hpp"
#include "stores/compare/identity_text.hpp"
#include "stores/compare/message.hpp"

namespace holdfast::stores::compare {
namespace {

using namespace std::chrono_literals;

seam::store_time shown_at(std::int64_t micros) {
    return seam::store_time{seam::store_clock::duration{micros}};
}

moment const noon{.now = shown_at(12'000'000), .shown = shown_at(99'000'000)};

claim_record holder(std::uint64_t number) {
    auto spec = std::make_shared<seam::claim_spec>();
    spec->name = "n";
    spec->owner = "an owner";
    spec->label = std::string{"\0%- \n\xff", 6};
    spec->lease = 30s;
    spec->joins = true;
    spec->order = ordering::fair;
    claim_record out;
    out.subject = {.spec = spec, .id = {seam::client_id{7}, number}, .actor = seam::actor_id{9}};
    out.session = session_id{77};
    out.secret = 0xfeedULL;
    out.since = noon.now - 5s;
    out.held = true;
    return out;
}

head_state full_head() {
    head_state out;
    out.record.kind = lock_kind::semaphore;
    out.record.declared = 5;
    out.record.current = 3;
    out.limit_kept = {.at = shown_at(42)};
    out.holders.push_back(holder(1));
    out.holders.back().number = symbolic(3);
    out.holders.push_back(holder(2));
    out.holders.back().number = seam::sequence{1234};
    out.holders.back().kept = true;
    out.holders.back().end = {.session = session_id{88}};
    cell_state cell;
    cell.version = static_cast<std::uint64_t>(symbolic(4));
    cell.value = std::string{"a\0b", 3};
    cell.operation = {seam::client_id{1}, 2};
    cell.end = {.at = shown_at(43)};
    out.cells.emplace("", cell);
    return out;
}

TEST(compare_fields, carry_any_bytes) {
    for (std::string const& value : {std::string{}, std::string{"-"}, std::string{"a b%c\n"},
                                     std::string{"\0\xff\x7f\x80", 4}}) {
        field_writer out;
        out.text(value).number(7).hex(8).end_line();
        auto const text = std::move(out).take();
        for (char const byte : text)
            EXPECT_TRUE((byte >= ' ' && byte < '\x7f') || byte == '\n');
        field_reader in{text};
        ASSERT_TRUE(in.next_line());
        EXPECT_EQ(in.text(), value);
        EXPECT_EQ(in.number(), 7U);
        EXPECT_EQ(in.hex(), 8U);
        EXPECT_FALSE(in.next_line());
    }
}

TEST(compare_head, is_read_as_it_was_written) {
    auto const body = write_head(full_head(), noon);
    auto const found = read_head({"n", false}, body, stamp{100}, noon);
    EXPECT_EQ(found.record.kind, lock_kind::semaphore);
    EXPECT_EQ(found.record.declared, 5U);
    EXPECT_EQ(found.record.current, 3U);
    EXPECT_EQ(found.limit_kept, (due{.at = shown_at(42)}));
    ASSERT_EQ(found.holders.size(), 2U);
    auto const& first = found.holders.front();
    EXPECT_EQ(first.number, seam::sequence{100U * sequences_per_step + 3U})
        << "what was symbolic is known by the stamp of the head";
    EXPECT_EQ(first.subject.id, (seam::claim_id{seam::client_id{7}, 1}));
    EXPECT_EQ(first.subject.spec->label.get(), (std::string{"\0%- \n\xff", 6}));
    EXPECT_EQ(first.secret, 0xfeedU);
    EXPECT_EQ(first.since, noon.now - 5s);
    EXPECT_TRUE(first.subject.spec->joins);
    EXPECT_EQ(first.subject.spec->order, ordering::fair);
    EXPECT_TRUE(found.holders.back().kept);
    EXPECT_EQ(found.holders.back().number, seam::sequence{1234});
    ASSERT_TRUE(found.cells.contains(""));
    EXPECT_EQ(found.cells.at("").version, 100U * sequences_per_step + 4U);
    EXPECT_EQ(found.cells.at("").value, (std::string{"a\0b", 3}));
    EXPECT_EQ(sessions_of(found), (std::vector{session_id{77}, session_id{88}}));
    EXPECT_EQ(write_head(found, noon),
              write_head(read_head({"n", false}, write_head(found, noon), stamp{200}, noon), noon))
        << "and stays known, whoever writes it next";
}

TEST(compare_head, shows_ages_by_a_clock_in_common) {
    auto const body = write_head(full_head(), noon);
    moment const elsewhere{.now = shown_at(3'000'000), .shown = shown_at(100'000'000)};
    auto const found = read_head({"n", false}, body, stamp{1}, elsewhere);
    EXPECT_EQ(elsewhere.now - found.holders.front().since, 6s);
}

TEST(compare_message, of_a_grant_brings_the_name_and_as_much_of_the_line_as_fits) {
    granted_message what{.id = {seam::client_id{1}, 2}, .secret = 5, .number = symbolic(1)};
    what.contended = true;
    what.after.key = {"n", false};
    what.after.body = write_head(full_head(), noon);
    for (std::uint64_t i = 0; i < 20; ++i)
        what.after.line.push_back({.id = {seam::client_id{3}, i},
                                   .session = session_id{4},
                                   .place = i,
                                   .body = std::string(50, 'x')});
    auto const read = [&](std::size_t limit) {
        auto const text = write_message(what, limit);
        EXPECT_LE(text.size(), limit);
        return std::get<granted_message>(read_messages(text, stamp{10}).at(0));
    };
    auto const all = read(8000);
    EXPECT_EQ(all.number, seam::sequence{10U * sequences_per_step + 1U});
    EXPECT_EQ(all.after.body, what.after.body);
    EXPECT_EQ(all.after.line.size(), 8U);
    EXPECT_TRUE(all.after.more);
    auto const some = read(what.after.body.size() + 700);
    EXPECT_LT(some.after.line.size(), 8U);
    EXPECT_TRUE(some.after.more);
    auto const least = read(100);
    EXPECT_EQ(least.after.written, stamp{}) << "without the head it must be fetched";
    EXPECT_EQ(least.number, all.number);
}

TEST(compare_message, several_share_a_letter) {
    auto const text =
        write_message(gone_message{{seam::client_id{1}, 1}, 2, "it was evicted"}, 99) +
        write_message(contended_message{{seam::client_id{1}, 3}, 4}, 99) +
        write_message(changed_message{{lock_kind::latch, "n", "p"}}, 99);
    auto const found = read_messages(text, stamp{1});
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(std::get<gone_message>(found[0]).why, "it was evicted");
    EXPECT_EQ(std::get<contended_message>(found[1]).secret, 4U);
    EXPECT_EQ(std::get<changed_message>(found[2]).key.part, "p");
}

// Whoever may write to the store may write anything: an exception, and nothing worse.
TEST(compare_records, survive_whatever_others_wrote) {
    base::random random{base::entropy()};
    auto const head = write_head(full_head(), noon);
    granted_message const grant{.id = {seam::client_id{1}, 2},
                                .after = {.key = {"n", false}, .body = head}};
    auto const letter = write_message(grant, 8000);
    seam::identity const me{.id = seam::client_id{1}, .host = "here", .pid = 5, .label = "l"};
    auto const spoil = [&](std::string text) {
        for (auto changes = random.below(4); changes > 0 && !text.empty(); --changes) {
            auto const place = random.below(text.size());
            if (random.one_in(3))
                text.erase(place, random.below(9));
            else
                text[place] = static_cast<char>(random.below(256));
        }
        return text;
    };
    int read = 0;
    for (int i = 0; i < 20'000; ++i) {
        try {
            (void)read_head({"n", false}, spoil(head), stamp{1}, noon);
            (void)read_messages(spoil(letter), stamp{1});
            (void)read_waiter({"n", false}, {.body = spoil(write_waiter(holder(1), noon))}, noon);
            seam::identity who;
            read_identity(spoil(write_identity(me)), who);
            ++read;
        } catch (std::system_error const& refused) {
            ASSERT_EQ(refused.code(), make_error_code(errc::store_unavailable));
        }
    }
    EXPECT_GT(read, 0) << "some were not changed at all";
}

}  // namespace
}  // namespace holdfast::stores::compare
