// Files that were written before a restart of the machine, or by another clock.
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
