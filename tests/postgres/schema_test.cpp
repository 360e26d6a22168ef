// The tables: made by somebody else beforehand, of another version, and gone.
#include <string>

#include "postgres/fixture.hpp"

namespace holdfast::postgres_faults {
namespace {

class schema_test : public testing::Test {
protected:
    static postgres_server& server() {
        static postgres_server one{{.arguments = {"-c", "fsync=off"}}};
        return one;
    }
    static void make_user(std::string const& name) {
        server().ask("CREATE ROLE " + name + " LOGIN");
        server().ask("GRANT USAGE ON SCHEMA public TO " + name);
    }
};

// The columns, keys and parameters of all tables with this prefix, as the catalogue has them.
std::string catalogue(postgres_server const& of, std::string const& prefix) {
    return of.ask("SELECT replace(c.relname, '" + prefix +
                  "', ''), c.reloptions, a.attname, a.atttypid::regtype, a.attnotnull, "
                  "replace(coalesce(pg_get_indexdef(c.oid), ''), '" +
                  prefix +
                  "', '') FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND "
                  "a.attnum > 0 WHERE c.relname LIKE '" +
                  prefix + "%' ORDER BY 1, 3");
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

// The rights stand behind the tables, as comments.
TEST_F(schema_test, who_may_not_create_uses_what_was_made) {
    make_user("clerk");
    auto const url = server().url("clerk") + "?prefix=shared_";
    expect_refusal(url, errc::access_denied, "holdfast schema");
    auto text = store_schema(url);
    server().ask(text);
    for (std::size_t at = 0; (at = text.find("-- GRANT", at)) != std::string::npos;)
        text.erase(at, 3);
    for (std::size_t at = 0; (at = text.find("TO app", at)) != std::string::npos;)
        text.replace(at, 6, "TO clerk");
    server().ask(text);
    noting_client clerk{url};
    auto held = mutex(*clerk, "q").acquire();
    EXPECT_EQ(held.release(), release_outcome::released);
}

TEST_F(schema_test, nothing_is_needed_elsewhere_and_a_bad_url_is_refused) {
    EXPECT_EQ(store_schema("memory:"), "");
    EXPECT_EQ(failure_of([] { (void)store_schema("postgres://h/x?prefix=A"); }).code(),
              errc::bad_url);
    // Nobody is asked: there is no such server, and no password is told.
    auto const text =
        store_schema(std::string{"postgres://app:"} + password + "@nowhere.invalid/x");
    EXPECT_NE(text.find("CREATE TABLE IF NOT EXISTS holdfast_head"), std::string::npos) << text;
    EXPECT_EQ(text.find(password), std::string::npos);
}

TEST_F(schema_test, tables_of_an_older_version) {
    server().ask(store_schema(server().url() + "?prefix=older_"));
    server().ask("UPDATE older_meta SET version = 0");
    expect_refusal(server().url() + "?prefix=older_", errc::unsupported,
                   "have version 0 and this holdfast knows version 2; drop them");
}

// Changed under a client that is at work: it notices when it connects anew, and does not write into them.
TEST_F(schema_test, a_version_that_changes_under_a_client) {
    auto const url = server().url() + "?prefix=moved_";
    noting_client one{url, 500ms};
    EXPECT_TRUE(mutex(*one, "q").try_lock());
    server().ask("UPDATE moved_meta SET version = 3");
    server().ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
        "'holdfast'");
    std::string text;
    EXPECT_TRUE(eventually([&] {
        auto const found = failure_of([&] { mutex(*one, "r").lock(); });
        text = found.what();
        return found.code() == errc::unsupported;
    })) << text;
    EXPECT_NE(text.find("use a newer holdfast"), std::string::npos) << text;
}

TEST_F(schema_test, a_holder_learns_that_the_tables_were_dropped) {
    auto const url = server().url() + "?prefix=dropped_";
    noting_client one{url, 5s};
    auto const held = mutex(*one, "q", {.lease = 3s}).acquire();
    auto const token = held.token();
    server().ask(
        "DROP TABLE dropped_meta, dropped_session, dropped_head, dropped_line; "
        "DROP SEQUENCE dropped_stamp");
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_FALSE(held.held());
    noting_client other{url, 5s};
    EXPECT_GT(mutex(*other, "q").acquire().token(), token);
}

TEST_F(schema_test, one_table_alone_that_was_dropped_is_made_anew) {
    auto const url = server().url() + "?prefix=alone_";
    noting_client one{url, 5s};
    for (auto const* const table : {"meta", "session", "head", "line"}) {
        (void)mutex(*one, "q").acquire();
        server().ask(std::string{"DROP TABLE alone_"} + table);
        EXPECT_TRUE(eventually([&] {
            return failure_of([&] { (void)mutex(*one, "q", {.lease = 1s}).acquire(); }).code() ==
                   std::error_code{};
        })) << table;
    }
}

// Its session goes on, and nothing but the table knew what it held.
TEST_F(schema_test, a_holder_learns_that_the_table_of_names_alone_was_dropped) {
    auto const url = server().url() + "?prefix=names_";
    noting_client one{url, 5s};
    auto const held = mutex(*one, "q", {.lease = 3s}).acquire();
    server().ask("DROP TABLE names_head");
    noting_client other{url, 5s};
    EXPECT_GT(mutex(*other, "q").acquire().token(), held.token());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
}

// Some of the names may be taken, in a schema that is shared: nothing is done to what is there, and nothing is left beside it.
TEST_F(schema_test, a_table_of_somebody_else_keeps_its_rows) {
    server().ask(
        "CREATE TABLE app_session (id text, data text); INSERT INTO app_session VALUES ('1', 'a "
        "cart')");
    expect_refusal(server().url() + "?prefix=app_", errc::unsupported, "not those of holdfast");
    EXPECT_EQ(server().ask("SELECT data FROM app_session"), "a cart\n");
    EXPECT_EQ(server().ask("SELECT to_regclass('app_head') IS NULL"), "t\n");
    EXPECT_ANY_THROW(server().ask(store_schema(server().url() + "?prefix=app_")));
    EXPECT_EQ(server().ask("SELECT data FROM app_session"), "a cart\n");
}

// What is done to a sequence cannot be undone with the rest.
TEST_F(schema_test, a_sequence_of_somebody_else_goes_on_where_it_was) {
    server().ask(
        "CREATE SEQUENCE shop_stamp AS integer; SELECT nextval('shop_stamp'); CREATE TABLE "
        "shop_session (id text, data text)");
    expect_refusal(server().url() + "?prefix=shop_", errc::unsupported, "not those of holdfast");
    EXPECT_EQ(server().ask("SELECT last_value FROM shop_stamp"), "1\n");
}

// Whoever comes when nothing is missing ends nobody's session.
TEST_F(schema_test, tables_that_are_there_are_left_alone) {
    auto const url = server().url() + "?prefix=whole_";
    noting_client one{url, 5s};
    auto const held = mutex(*one, "q").acquire();
    server().ask(store_schema(url));
    EXPECT_EQ(server().ask("SELECT count(*) FROM whole_session"), "1\n");
    EXPECT_TRUE(held.held());
}

}  // namespace
}  // namespace holdfast::postgres_faults
