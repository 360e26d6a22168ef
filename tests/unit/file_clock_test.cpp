// Files that were written before a restart of the machine, or by another clock.
#include <csignal>

#include <sys/resource.h>

#include <sqlite3.h>

#include "unit/file_fixture.hpp"

namespace holdfast::test {
namespace {

class file_clock : public testing::Test {
protected:
    void change(std::string const& sql) {
        sqlite3* file = nullptr;
        ASSERT_EQ(sqlite3_open((directory / "locks.db").c_str(), &file), SQLITE_OK);
        char* words = nullptr;
        EXPECT_EQ(sqlite3_exec(file, sql.c_str(), nullptr, nullptr, &words), SQLITE_OK)
            << (words != nullptr ? words : "");
        sqlite3_free(words);
        sqlite3_close(file);
    }

    /// A process that takes x and then stands still until it is killed.
    std::unique_ptr<child_process> holder_of_x() {
        auto out = std::make_unique<child_process>([&](child_process& self) {
            peer mine{url};
            bool const got = is_granted(mine.submit(mine.claim("x")));
            self.reach();
            self.await();
            return got ? 0 : 1;
        });
        out->await();
        return out;
    }

    scratch_directory directory;
    std::string const url = "file:" + (directory / "locks.db");
    seam::cell_key const key{lock_kind::latch, "latch", {}};
};

TEST_F(file_clock, a_restart_of_the_machine_voids_holds_and_keeps_the_rest) {
    std::uint64_t before = 0;
    {
        // A process that dies without a word, as all do when the power fails.
        child_process lost{[&](child_process& self) {
            peer mine{url};
            mine.submit(mine.claim("x"));
            mine.send(seam::swap{.key = key, .value = "2", .ttl = 1h, .operation = {mine.id(), 1}});
            self.reach();
            self.await();
            return 0;
        }};
        lost.await();
        lost.kill();
    }
    // As an hour-long boot with its clock far ahead left it behind.
    change(
        "UPDATE state SET boot = 'another boot';"
        "UPDATE claims SET expires = expires + 1000000000000, rank = rank + 1000000000000;"
        "UPDATE cells SET expires = 1;"
        "UPDATE clients SET side = 0");
    {
        peer mine{url};
        EXPECT_EQ(std::get<seam::cell>(mine.send(seam::read{key}).body).value, "2");
        auto const held = mine.submit(mine.claim("x"));
        ASSERT_TRUE(is_granted(held));
        before = number_of(held);
    }
    // The mark is never forgotten, even when the wall clock was set back.
    change("UPDATE state SET boot = 'a third boot', mark = " +
           std::to_string(before + 1'000'000'000'000'000));
    peer mine{url};
    EXPECT_EQ(number_of(mine.submit(mine.claim("x"))), before + 1'000'000'000'000'001);
}

// Containers may show a boot id of their own: systemd-nspawn and LXC make one up.
TEST_F(file_clock, another_boot_id_voids_nothing_while_a_client_lives) {
    auto const holder = holder_of_x();
    change("UPDATE state SET boot = 'that of another container'");
    peer mine{url};
    EXPECT_TRUE(is_refused(mine.submit(mine.claim("x")), seam::refusal::busy));
    auto const waiting = mine.claim("x");
    ASSERT_TRUE(is_queued(mine.submit(waiting, true)));
    holder->kill();
    auto const told = mine.next<seam::claim_granted>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->id, waiting.id);
    // Nor when the first one has gone: it is the second that lives now.
    peer other{url};
    EXPECT_TRUE(is_refused(other.submit(other.claim("x")), seam::refusal::busy));
}

// Nobody is there to prove that it is the same boot, but the time that is left proves to be short.
TEST_F(file_clock, a_minimum_hold_outlives_another_boot_id_but_not_a_restart) {
    seam::claim_spec const permit{.name = "s",
                                  .kind = lock_kind::semaphore,
                                  .mode = claim_mode::permits,
                                  .permits = 2,
                                  .limit = 3};
    {
        peer mine{url};
        auto const lock = mine.claim("x");
        auto const permits = mine.claim(peer::spec(permit));
        auto const reader = mine.claim(peer::spec({.name = "r", .mode = claim_mode::shared}));
        for (auto const& each : {lock, permits, reader}) {
            ASSERT_TRUE(is_granted(mine.submit(each)));
            mine.send(seam::settle{.subject = each, .keep_for = 60s});
        }
    }
    change("UPDATE state SET boot = 'another boot'");
    {
        peer mine{url};
        EXPECT_TRUE(is_refused(mine.submit(mine.claim("x")), seam::refusal::busy));
        EXPECT_TRUE(is_refused(mine.submit(mine.claim("r")), seam::refusal::busy));
        auto const reading = peer::spec({.name = "r", .mode = claim_mode::shared});
        EXPECT_TRUE(is_granted(mine.submit(mine.claim(reading))));
        EXPECT_TRUE(is_refused(mine.submit(mine.claim(peer::spec(permit))), seam::refusal::busy));
        auto one = permit;
        one.permits = 1;
        EXPECT_TRUE(is_granted(mine.submit(mine.claim(peer::spec(one)))));
    }
    change(
        "UPDATE state SET boot = 'a third boot';"
        "UPDATE claims SET began = began + 1000000000000, expires = expires + 1000000000000,"
        " rank = rank + 1000000000000");
    peer mine{url};
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("x"))));
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("r"))));
    EXPECT_TRUE(is_granted(mine.submit(mine.claim(peer::spec(permit)))));
}

// Its byte would prove that the former user of the byte, of an earlier boot, is still there.
TEST_F(file_clock, who_could_not_join_keeps_no_byte) {
    holder_of_x()->kill();
    sqlite3* other = nullptr;  // keeps the log, which is to be longer than any other file
    ASSERT_EQ(sqlite3_open((directory / "locks.db").c_str(), &other), SQLITE_OK);
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(sqlite3_exec(other, "UPDATE state SET boot = 'another boot'", nullptr, nullptr,
                               nullptr),
                  SQLITE_OK);
    auto const size = std::filesystem::file_size(directory / "locks.db-wal");
    child_process without_room{[&](child_process& self) {
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit const tight{size, RLIM_INFINITY};
        if (::setrlimit(RLIMIT_FSIZE, &tight) != 0) return 10;
        peer mine{url};
        bool const failed = error_of(mine.submit(mine.claim("y"))).is(errc::store_unavailable);
        self.reach();
        self.await();
        return failed ? 0 : 11;
    }};
    without_room.await();
    peer mine{url};
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("x"))));
    without_room.reach();
    EXPECT_EQ(without_room.wait(), 0);
    sqlite3_close(other);
}

TEST_F(file_clock, a_changed_limit_survives_a_restart) {
    seam::claim_spec const permit{
        .name = "s", .kind = lock_kind::semaphore, .mode = claim_mode::permits, .limit = 2};
    {
        peer mine{url};
        mine.send(seam::adjust{mine.claim(peer::spec(permit)), 9});
    }
    change("UPDATE state SET boot = 'another boot'");
    peer mine{url};
    auto const now = mine.send(seam::adjust{mine.claim(peer::spec(permit)), std::nullopt});
    EXPECT_EQ(std::get<seam::adjusted>(now.body).current, 9U);
}

TEST_F(file_clock, two_time_namespaces_do_not_share_a_file) {
    auto const path = directory / "locks.db";
    {
        child_process other{[&](child_process& self) {
            peer its{url};
            its.submit(its.claim("x"));
            self.reach();
            self.await();
            return 0;
        }};
        other.await();
        change("UPDATE state SET time_namespace = 1");
        peer mine{url};
        auto const error = error_of(mine.submit(mine.claim("y")));
        EXPECT_TRUE(error.is(errc::unsupported));
        EXPECT_NE(error.text.find(path), std::string::npos);
        EXPECT_NE(error.text.find("share one time namespace"), std::string::npos);
    }
    // Alone, the newcomer may have it: nobody is there whose clock it was.
    peer mine{url};
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("x"))));
}

}  // namespace
}  // namespace holdfast::test
