// Ballots: the table that they need, what sweepers make of it, and steps that wait for each other.
#include "postgres/documented_rights.hpp"
#include "postgres/driver_fixture.hpp"

namespace holdfast::postgres_tests {
namespace {

struct voter : party {
    using party::party;

    [[nodiscard]] compare::step proposing(std::string const& name, std::uint64_t ballot) const {
        auto out = writing(name, "who holds");
        out.ballot = compare::proposal{.number = seam::sequence{ballot}};
        out.otherwise.ballot = true;
        return out;
    }
    void grant(std::string const& name, std::uint64_t ballot) {
        auto what = proposing(name, ballot);
        what.expected = commit(what).written;
        what.head = compare::head_write{.erase = true};
        what.ballot.reset();
        commit(what);
    }
    /// What the next one has to exceed.
    [[nodiscard]] std::uint64_t known(std::string const& name) {
        return static_cast<std::uint64_t>(self.look({.key = {name, false}, .ballot = true}).ballot);
    }
    void sweep() {
        postgres::schema const tables{"votes_"};
        for (auto const& each : tables.sweep_ballots())
            sql_connection{}.run(each.text().words);
    }
};

std::string count() { return server().ask("SELECT count(*) FROM votes_ballot WHERE name <> ''"); }

TEST(postgres_ballots, what_is_old_counts_for_all_names_and_is_removed) {
    server().ask("DROP TABLE IF EXISTS votes_ballot");
    voter one{"?prefix=votes_"};
    one.grant("old", 70);
    one.grant("young", 90);
    server().ask("UPDATE votes_ballot SET granted = granted - 9000000 WHERE name = 'old'");
    one.sweep();
    EXPECT_EQ(one.known("another"), 0U) << "not yet";
    server().ask("UPDATE votes_ballot SET granted = granted - 2000000 WHERE name = 'old'");
    one.sweep();
    EXPECT_EQ(one.known("another"), 70U);
    EXPECT_EQ(one.known("old"), 70U);
    EXPECT_EQ(one.known("young"), 90U);
    EXPECT_EQ(count(), "1\n");
    one.sweep();
    EXPECT_EQ(one.known("another"), 70U) << "it never sinks";
}

// Between the two statements of a sweeper.
TEST(postgres_ballots, what_is_granted_meanwhile_is_not_forgotten) {
    server().ask("DROP TABLE IF EXISTS votes_ballot");
    voter one{"?prefix=votes_"};
    one.grant("a", 70);
    server().ask("UPDATE votes_ballot SET granted = granted - 11000000");
    postgres::schema const tables{"votes_"};
    auto const texts = tables.sweep_ballots();
    sql_connection sweeper;
    sweeper.run(texts.at(0).text().words);
    one.grant("a", 90);
    sweeper.run(texts.at(1).text().words);
    EXPECT_EQ(one.known("a"), 90U);
    server().ask("UPDATE votes_ballot SET granted = granted - 11000000 WHERE name <> ''");
    sweeper.run(texts.at(1).text().words);
    EXPECT_EQ(one.known("a"), 90U) << "the floor is not there yet";
}

TEST(postgres_ballots, whoever_uses_them_sweeps) {
    voter one{"?prefix=swept_"};
    one.grant("old", 70);
    server().ask("UPDATE swept_ballot SET granted = granted - 11000000");
    (void)one.self.keep({one.session});
    EXPECT_TRUE(one.self.drive_until(
        [] { return server().ask("SELECT ballot FROM swept_ballot") == "70\n"; }, 20s));
}

TEST(postgres_ballots, need_no_other_rights_than_those_of_the_page) {
    {
        voter owner{"?prefix=least_"};
        owner.grant("first", 60);
    }
    server().ask("CREATE ROLE guest LOGIN; GRANT USAGE ON SCHEMA public TO guest; " +
                 postgres_faults::documented_rights("least_", "guest"));
    voter guest{"?prefix=least_", 60s, "guest"};
    EXPECT_EQ(guest.known("first"), 60U);
    guest.grant("old", 70);
    server().ask("UPDATE least_ballot SET granted = granted - 11000000");
    (void)guest.self.keep({guest.session});
    EXPECT_TRUE(guest.self.drive_until(
        [] { return server().ask("SELECT ballot FROM least_ballot") == "70\n"; }, 20s))
        << "it sweeps";
}

// The lower one was sent first and got stuck in the server; meanwhile a higher one came and went.
TEST(postgres_ballots, one_that_waited_sees_what_was_granted_meanwhile) {
    server().ask("DROP TABLE IF EXISTS votes_ballot");
    voter one{"?prefix=votes_"};
    one.grant("stuck", 70);
    sql_connection rival;
    rival.run("BEGIN");
    rival.run("SELECT 1 FROM votes_head WHERE name = 'stuck' FOR UPDATE");
    auto const waiting = one.self.next_ticket();
    one.self.driver().commit(waiting, one.proposing("stuck", 80));
    ASSERT_TRUE(eventually([&] {
        one.self.drive_for(1ms);
        return waits_for("transactionid") || waits_for("tuple");
    }));
    rival.run("UPDATE votes_ballot SET ballot = 90 WHERE name = 'stuck'");
    rival.run("COMMIT");
    auto const found = expect<compare::missed>(one.self.outcome_of(waiting)).found;
    EXPECT_EQ(found.ballot, seam::sequence{90});
}

TEST(postgres_ballots, tables_from_before_get_theirs_and_one_that_is_gone_is_made_again) {
    party without{"?prefix=older_"};
    server().ask("DROP TABLE older_ballot");
    without.commit(without.writing("q", "no ballot"));
    voter one{"?prefix=older_"};
    EXPECT_EQ(one.known("q"), 0U);
    one.grant("p", 70);
    server().ask("DROP TABLE older_ballot");
    auto const lost = one.self.commit(one.proposing("p", 80));
    EXPECT_FALSE(std::holds_alternative<compare::committed>(lost));
    one.grant("p", 90);
}

}  // namespace
}  // namespace holdfast::postgres_tests
