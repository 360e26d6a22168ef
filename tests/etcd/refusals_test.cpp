// What a server or a process refuses: clear errors, and no password in any of them.
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "etcd/fixture.hpp"
#include "stores/etcd/versions.hpp"
#include "support/eventually.hpp"

namespace holdfast::etcd_tests {

namespace {

using namespace std::chrono_literals;
using compare::kept;

// Or a busy machine takes longer over a password than a client waits.
std::vector<std::string> const cheap_passwords{"--bcrypt-cost", "4"};

compare::outcome open_at(std::string const& url) {
    client self{reach(url)};
    return self.open(new_session(), 5s);
}

std::string with_user(std::string const& url, std::string const& who) {
    auto out = url;
    return out.insert(out.find("//") + 2, who + "@");
}

TEST(etcd_refusals, users_are_let_in_by_their_password_and_need_rights_on_the_prefix_alone) {
    support::etcd_server const server{{.arguments = cheap_passwords}};
    server.want_users("anna", "s3cret", "holdfast/");
    party one{with_user(server.url(), "anna:s3cret")};
    party two{with_user(server.url(), "anna:s3cret")};
    EXPECT_EQ(one.kept(), kept::state::alive);
    ASSERT_TRUE(is<compare::in_force>(one.self.watch({"q", false})));
    EXPECT_TRUE(is<compare::committed>(two.self.commit(two.writing("q"))));
    EXPECT_TRUE(is<compare::committed>(two.self.commit(two.writing_to(one.session, "hello"))));
    EXPECT_TRUE(one.self.drive_until(
        [&] { return one.self.letters.size() == 1 && !one.self.changes.empty(); }));
    EXPECT_TRUE(is<compare::raised>(one.self.raise(one.session)));
    EXPECT_TRUE(is<compare::names>(one.self.list({})));
    one.self.driver().close(one.session);
    two.self.driver().watch_session(one.session);
    EXPECT_TRUE(two.self.drive_until([&] { return two.self.ends_of(one.session) == 1; }));

    for (auto const* const who : {"anna:wrong-s3cret", "nobody:wrong-s3cret"}) {
        auto const found = open_at(with_user(server.url(), who));
        EXPECT_TRUE(is<compare::rejected>(found));
        EXPECT_TRUE(error_of(found).is(errc::access_denied)) << error_of(found).text;
        EXPECT_EQ(error_of(found).text.find("s3cret"), std::string::npos) << error_of(found).text;
    }
    auto const nobody = open_at(server.url());
    EXPECT_TRUE(error_of(nobody).is(errc::access_denied)) << error_of(nobody).text;
    auto const elsewhere = open_at(with_user(server.url(), "anna:s3cret") + "?prefix=other/");
    EXPECT_TRUE(error_of(elsewhere).is(errc::access_denied)) << error_of(elsewhere).text;
    EXPECT_NE(error_of(elsewhere).text.find("role grant-permission"), std::string::npos)
        << error_of(elsewhere).text;
}

// The lease is there, and would last for its time beside another one.
TEST(etcd_refusals, a_session_that_has_its_lease_and_no_record_is_asked_for_again_by_its_id) {
    support::etcd_server const server{{.arguments = cheap_passwords}};
    server.want_users("anna", "s3cret", "holdfast/other/");
    client self{reach(with_user(server.url(), "anna:s3cret"))};
    auto const id = new_session();
    for (int i = 0; i < 3; ++i) {
        auto const found = self.open(id, 30s);
        EXPECT_TRUE(is<compare::unknown>(found));
        EXPECT_TRUE(error_of(found).is(errc::access_denied)) << error_of(found).text;
    }
    auto const all = server.control({"lease", "list"}, support::etcd_server::administrator);
    EXPECT_TRUE(all.starts_with("found 1 leases")) << all;
}

TEST(etcd_refusals, a_user_for_a_server_without_users_is_refused) {
    support::etcd_server const server;
    auto const found = open_at(with_user(server.url(), "anna:s3cret"));
    EXPECT_TRUE(error_of(found).is(errc::access_denied)) << error_of(found).text;
}

TEST(etcd_refusals, a_token_that_runs_out_is_replaced_unseen_also_on_streams) {
    support::etcd_server const server{
        {.arguments = {"--auth-token-ttl", "1", "--bcrypt-cost", "4"}}};
    server.want_users("anna", "s3cret", "holdfast/");
    party one{with_user(server.url(), "anna:s3cret")};
    for (int turn = 0; turn < 3; ++turn) {
        one.self.drive_for(2500ms);  // tokens are looked through every second or so
        EXPECT_EQ(one.kept(), kept::state::alive);
        one.self.drive_for(2500ms);
        EXPECT_TRUE(is<compare::in_force>(one.self.watch({"q" + std::to_string(turn), false})));
        EXPECT_TRUE(
            is<compare::committed>(one.self.commit(one.writing("q" + std::to_string(turn)))));
        EXPECT_TRUE(one.self.drive_until(
            [&] { return one.self.changes.size() == static_cast<std::size_t>(turn) + 1; }));
    }
    EXPECT_EQ(one.self.gaps, 0);
}

TEST(etcd_refusals, watches_whose_right_was_taken_away_go_on_when_it_is_back) {
    support::etcd_server server{{.arguments = cheap_passwords}};
    server.want_users("anna", "s3cret", "holdfast/");
    party one{with_user(server.url(), "anna:s3cret")};
    party two{with_user(server.url(), "anna:s3cret")};
    auto const dying = new_session();
    auto const waiting = new_session();
    for (auto const id : {dying, waiting})
        ASSERT_TRUE(is<compare::opened>(two.self.open(id, 60s)));
    ASSERT_TRUE(is<compare::in_force>(one.self.watch({"q", false})));
    one.self.driver().watch_session(dying);
    one.self.drive_for(100ms);
    std::string const root = support::etcd_server::administrator;
    server.control({"role", "revoke-permission", "--prefix=true", "locks", "holdfast/"}, root);
    server.kill();
    server.start();  // streams begin anew: only then a right is looked at
    // The connection is gone, and back; then the watches are refused.
    EXPECT_TRUE(one.self.drive_until([&] { return one.self.doubts >= 3; })) << one.self.doubts;
    one.self.driver().watch_session(waiting);  // refused from the beginning
    one.self.drive_for(500ms);
    server.control({"role", "grant-permission", "--prefix=true", "locks", "readwrite", "holdfast/"},
                   root);
    EXPECT_TRUE(support::eventually(
        [&] { return is<compare::committed>(two.self.commit(two.writing("q"))); }));
    EXPECT_TRUE(is<compare::committed>(two.self.commit(two.writing_to(one.session, "hello"))));
    for (auto const id : {dying, waiting})
        two.self.driver().close(id);
    two.self.drive_for(200ms);
    EXPECT_TRUE(one.self.drive_until([&] {
        return one.self.letters.size() == 1 && one.self.changes_of({"q", false}) == 1 &&
               one.self.ends_of(dying) == 1 && one.self.ends_of(waiting) == 1;
    })) << one.self.letters.size()
        << one.self.changes_of({"q", false}) << one.self.ends_of(dying)
        << one.self.ends_of(waiting);
    EXPECT_EQ(one.self.gaps, 0) << "they went on from where they ended";
}

TEST(etcd_refusals, certificates_are_checked_on_either_side) {
    support::etcd_server const server{{.tls = true, .client_certificates = true}};
    auto const at = [&](char const* name) { return server.directory() + "/" + name; };
    auto const own = "&cert=" + at("client.pem") + "&key=" + at("client.key");
    party const one{server.url() + "?ca=" + at("ca.pem") + own};
    party const two{server.url() + "?servername=localhost&ca=" + at("ca.pem") + own};

    auto const stranger = open_at(server.url() + "?ca=" + at("other.pem") + own);
    EXPECT_TRUE(is<compare::rejected>(stranger));
    EXPECT_NE(error_of(stranger).text.find("certificate"), std::string::npos)
        << error_of(stranger).text;
    auto const misnamed = open_at(server.url() + "?servername=elsewhere&ca=" + at("ca.pem") + own);
    EXPECT_TRUE(is<compare::rejected>(misnamed)) << error_of(misnamed).text;
    auto const bare = open_at(server.url() + "?ca=" + at("ca.pem"));
    EXPECT_TRUE(is<compare::rejected>(bare)) << error_of(bare).text;
    auto const plain = open_at("etcd" + server.url().substr(5));
    EXPECT_TRUE(is<compare::rejected>(plain)) << error_of(plain).text;
}

TEST(etcd_refusals, a_database_without_space_says_so_and_still_releases) {
    support::etcd_server const server{{.arguments = {"--quota-backend-bytes", "1048576"}}};
    party one{server.url()};
    auto const held = one.self.commit(one.writing("q"));
    ASSERT_TRUE(is<compare::committed>(held));
    EXPECT_TRUE(support::eventually([&] {
        try {
            server.control({"put", "filler", std::string(100'000, 'x')});
            return false;
        } catch (std::runtime_error const&) {
            return true;
        }
    }));
    auto const full = one.self.commit(one.writing("r"));
    EXPECT_TRUE(is<compare::rejected>(full));
    EXPECT_TRUE(error_of(full).is(errc::store_unavailable));
    EXPECT_NE(error_of(full).text.find("alarm disarm"), std::string::npos) << error_of(full).text;
    auto const watches = server.received({"Watch"});
    EXPECT_TRUE(is<compare::rejected>(one.self.open(new_session(), 30s)));
    EXPECT_TRUE(one.self.drive_until([&] { return server.received({"Watch"}) == watches + 2; }))
        << "what was to hear letters for it is taken back";
    auto release = one.writing("q");
    release.expected = std::get<compare::committed>(held).written;
    release.head->erase = true;
    EXPECT_TRUE(is<compare::committed>(one.self.commit(release)));
    EXPECT_EQ(one.kept(), kept::state::alive);
}

TEST(etcd_refusals, a_version_that_may_break_a_promise_is_warned_of_once) {
    support::etcd_server const server;
    said log;
    party one{server.url(), &log};
    EXPECT_EQ(one.kept(), kept::state::alive);
    auto const version = server.control({"version"});  // "etcdctl version: 3.4.23" and more
    auto const number =
        version.substr(version.find(": ") + 2, version.find('\n') - version.find(": ") - 2);
    ASSERT_EQ(log.words.size(), stores::etcd::keeps_promises(number) ? 0U : 1U);
    for (auto const& words : log.words)
        EXPECT_NE(words.find(number), std::string::npos) << words;
}

TEST(etcd_refusals, the_child_of_a_fork_is_refused_in_plain_words_and_the_parent_goes_on) {
    support::etcd_server const server;
    party one{server.url()};
    auto const child = ::fork();
    if (child == 0) {
        one.self.driver().abandon_in_child();
        client own{reach(server.url())};
        auto const found = own.open(new_session(), 5s);
        bool const refused = is<compare::rejected>(found) &&
                             error_of(found).is(errc::unsupported) &&
                             error_of(found).text.find("fork") != std::string::npos;
        ::_exit(refused ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(one.kept(), kept::state::alive);
    EXPECT_TRUE(is<compare::committed>(one.self.commit(one.writing_to(one.session, "hello"))));
    EXPECT_TRUE(one.self.drive_until([&] { return one.self.letters.size() == 1; }));
}

}  // namespace

}  // namespace holdfast::etcd_tests
