// The tables: made by somebody else beforehand, of another version, and gone.
#include <optional>
#include <string>

#include "mysql/fixture.hpp"

namespace holdfast::mysql_faults {
namespace {

class schema_test : public testing::Test {
protected:
    static mysql_server& server() {
        static mysql_server one;
        return one;
    }
};

// The columns and keys of all tables with this prefix.
std::string catalogue(mysql_server const& of, std::string const& prefix) {
    return of.ask(
        "SELECT REPLACE(table_name, '" + prefix +
        "', ''), column_name, column_type, is_nullable, column_key, extra FROM "
        "information_schema.columns WHERE table_schema = 'holdfast' AND table_name LIKE '" +
        prefix + "%' ORDER BY 1, 2");
}

TEST_F(schema_test, what_is_printed_makes_what_a_client_makes) {
    server().ask(store_schema(server().url() + "?prefix=printed_"));
    noting_client by_itself{server().url() + "?prefix=made_"};
    EXPECT_TRUE(mutex(*by_itself, "q").try_lock());
    auto const made = catalogue(server(), "made_");
    EXPECT_EQ(catalogue(server(), "printed_"), made);
    EXPECT_NE(made.find("generation"), std::string::npos) << made;
    // A second time it does no harm.
    server().ask(store_schema(server().url() + "?prefix=printed_"));
    EXPECT_EQ(server().ask("SELECT count(*) FROM printed_meta"), "1\n");
}

TEST_F(schema_test, nobody_is_asked_for_it_and_a_bad_url_is_refused) {
    EXPECT_EQ(failure_of([] { (void)store_schema("mysql://h/x?prefix=A"); }).code(), errc::bad_url);
    auto const text = store_schema(std::string{"mysql://app:"} + password + "@nowhere.invalid/x");
    EXPECT_NE(text.find("CREATE TABLE IF NOT EXISTS holdfast_head"), std::string::npos) << text;
    EXPECT_EQ(text.find(password), std::string::npos);
}

TEST_F(schema_test, whoever_comes_while_somebody_makes_the_tables) {
    auto const url = server().url() + "?prefix=half_";
    server().ask(store_schema(url));
    server().ask("DELETE FROM half_meta");  // it has not come to that yet
    noting_client next{url};
    EXPECT_TRUE(mutex(*next, "q").try_lock());
    EXPECT_EQ(server().ask("SELECT count(*) FROM half_meta"), "1\n");
}

TEST_F(schema_test, a_holder_learns_that_the_tables_were_dropped) {
    auto const url = server().url() + "?prefix=dropped_";
    noting_client one{url, 5s};
    auto const held = mutex(*one, "q", {.lease = 3s}).acquire();
    auto const token = held.token();
    server().ask(
        "DROP TABLE dropped_meta, dropped_session, dropped_head, dropped_line, dropped_mail; DROP "
        "SEQUENCE dropped_stamp");
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_FALSE(held.held());
    noting_client other{url, 5s};
    EXPECT_GT(mutex(*other, "q").acquire().token(), token);
}

TEST_F(schema_test, one_table_alone_that_was_dropped_is_made_anew) {
    auto const url = server().url() + "?prefix=alone_";
    noting_client one{url, 5s};
    for (auto const* const table : {"meta", "session", "head", "line", "mail"}) {
        (void)mutex(*one, "q").acquire();
        server().ask(std::string{"DROP TABLE alone_"} + table);
        EXPECT_TRUE(eventually([&] {
            return failure_of([&] { (void)mutex(*one, "q", {.lease = 1s}).acquire(); }).code() ==
                   std::error_code{};
        })) << table;
    }
}

TEST_F(schema_test, holders_learn_that_the_table_of_names_was_dropped_alone) {
    auto const url = server().url() + "?prefix=torn_";
    for (auto const* const table : {"head", "line"}) {
        noting_client one{url, 5s};
        noting_client other{url, 5s};
        auto const held = mutex(*one, "q", {.lease = 3s}).acquire();
        server().ask(std::string{"DROP TABLE torn_"} + table);
        std::optional<lease> next;
        ASSERT_TRUE(eventually([&] {
            return failure_of([&] { next = mutex(*other, "q").try_acquire_for(100ms); }).code() ==
                       std::error_code{} &&
                   next;
        })) << table;
        EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); })) << table;
        EXPECT_GT(next->token(), held.token()) << table;
    }
}

TEST_F(schema_test, tables_of_another_version_are_not_repaired) {
    auto const url = server().url() + "?prefix=later_";
    server().ask(store_schema(url));
    server().ask(
        "UPDATE later_meta SET version = 2; DROP TABLE later_line; INSERT INTO later_session "
        "VALUES "
        "(1, 1, 1, 1, '')");
    noting_client one{url};
    EXPECT_EQ(failure_of([&] { (void)mutex(*one, "q").try_lock(); }).code(), errc::unsupported);
    EXPECT_EQ(server().ask("SELECT count(*) FROM later_session"), "1\n");
}

// Some of the names may be taken, in a database that is shared.
TEST_F(schema_test, a_table_of_somebody_else_keeps_its_rows) {
    server().ask(
        "CREATE TABLE app_session (id INT, data TEXT); INSERT INTO app_session VALUES (1, 'a "
        "cart')");
    expect_refusal(server().url() + "?prefix=app_", errc::unsupported, "not those of holdfast");
    EXPECT_EQ(server().ask("SELECT data FROM app_session"), "a cart\n");
}

TEST_F(schema_test, a_table_of_somebody_else_beside_the_others_is_refused) {
    auto const url = server().url() + "?prefix=mixed_";
    server().ask(store_schema(url));
    server().ask("DROP TABLE mixed_mail; CREATE TABLE mixed_mail (x INT)");
    expect_refusal(url, errc::unsupported, "not those of holdfast");
}

// With CHAIN each COMMIT begins a transaction, in which later statements would stay.
TEST_F(schema_test, a_server_that_chains_transactions) {
    mysql_server const chaining{{.arguments = {"--completion-type=CHAIN"}}};
    noting_client one{chaining.url(), 5s};
    auto const held = mutex(*one, "q", {.lease = 1s}).acquire();
    auto const end = [&] {
        return std::stoull(chaining.ask("SELECT MAX(expires) FROM holdfast_session"));
    };
    auto const first = end();
    EXPECT_TRUE(eventually([&] { return end() > first + 1'500'000; }));
    EXPECT_TRUE(held.held());
}

}  // namespace
}  // namespace holdfast::mysql_faults
