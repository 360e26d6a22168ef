// A transaction whose commit fails, after its statements have told what they did.
#include "postgres/driver_fixture.hpp"

namespace holdfast::postgres_tests {
namespace {

/// While it lives, what is written to a table is refused when it is committed.
class refusing_commits {
public:
    explicit refusing_commits(std::string const& table) : table_{table} {
        operator_.run(
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN RAISE EXCEPTION ''not today''; END'");
        operator_.run("CREATE CONSTRAINT TRIGGER refusing AFTER INSERT OR UPDATE ON " + table_ +
                      " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()");
    }
    ~refusing_commits() { operator_.run("DROP TRIGGER refusing ON " + table_); }
    refusing_commits(refusing_commits const&) = delete;
    refusing_commits& operator=(refusing_commits const&) = delete;

private:
    std::string table_;
    sql_connection operator_;
};

TEST(postgres_commit, a_sign_of_life_that_is_not_committed_does_not_count) {
    party one{"?prefix=commit_"};
    {
        refusing_commits const refused{"commit_session"};
        auto const found = one.self.keep({one.session});
        EXPECT_FALSE(std::holds_alternative<std::vector<compare::kept>>(found));
    }
    // The next answer is the one to the next question.
    auto const kept = expect<std::vector<compare::kept>>(one.self.keep({one.session}));
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].found, compare::kept::state::alive);
    EXPECT_EQ(one.look("q").written, compare::stamp{});
}

TEST(postgres_commit, a_step_that_is_not_committed_is_rejected) {
    party one{"?prefix=commit_"};
    {
        refusing_commits const refused{"commit_head"};
        auto const found = one.self.commit(one.writing("q", "body"));
        EXPECT_FALSE(std::holds_alternative<compare::committed>(found));
    }
    EXPECT_EQ(one.look("q").written, compare::stamp{});
    EXPECT_NE(one.commit(one.writing("q", "body")).written, compare::stamp{});
    EXPECT_EQ(one.look("q").body, "body");
}

// Whatever an administrator has set for all.
TEST(postgres_commit, settings_of_the_database_do_not_change_how_steps_are_judged) {
    sql_connection admin;
    admin.run("ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'");
    {
        party one{"?prefix=usual_"};
        EXPECT_NE(one.commit(one.writing("q", "body")).written, compare::stamp{});
        sql_connection holder;
        holder.run("BEGIN; SELECT 1 FROM usual_head FOR UPDATE");
        auto next = one.writing("q", "other");
        next.expected = one.look("q").written;
        auto const ticket = one.self.next_ticket();
        one.self.driver().commit(ticket, next);
        auto const found = one.self.outcome_of(ticket);
        EXPECT_FALSE(std::holds_alternative<compare::committed>(found));
        sql_connection counter;
        EXPECT_EQ(
            counter.run("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"),
            "0")
            << "a backend that waits for a lock outlives its client";
        holder.run("COMMIT");
    }
    admin.run("ALTER DATABASE postgres RESET default_transaction_isolation");
}

}  // namespace
}  // namespace holdfast::postgres_tests
