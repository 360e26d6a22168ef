// Processes that die or close: what they held comes back, and nobody alive is taken for dead.
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "stores/file/location.hpp"
#include "stores/file/presence.hpp"
#include "unit/file_fixture.hpp"

namespace holdfast::test {
namespace {

class file_death : public testing::Test {
protected:
    /// A process that takes `name` and then stands still until it is killed.
    std::unique_ptr<child_process> holder_of(std::string const& name,
                                             seam::claim_spec its = {.name = {}}) {
        auto out = std::make_unique<child_process>([&](child_process& self) {
            its.name = name;
            peer mine{url};
            bool const got = is_granted(mine.submit(mine.claim(peer::spec(its))));
            self.reach();
            self.await();
            return got ? 0 : 1;
        });
        out->await();
        return out;
    }

    std::int64_t number(char const* sql) {
        sqlite3* file = nullptr;
        EXPECT_EQ(sqlite3_open((directory / "locks.db").c_str(), &file), SQLITE_OK);
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_prepare_v2(file, sql, -1, &statement, nullptr), SQLITE_OK);
        EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
        auto const out = sqlite3_column_int64(statement, 0);
        sqlite3_finalize(statement);
        sqlite3_close(file);
        return out;
    }

    scratch_directory directory;
    std::string const url = "file:" + (directory / "locks.db");
};

TEST_F(file_death, a_try_takes_what_a_dead_process_held) {
    auto const dead = holder_of("x");
    peer mine{url};
    EXPECT_TRUE(is_refused(mine.submit(mine.claim("x")), seam::refusal::busy));
    dead->kill();
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("x"))));
}

TEST_F(file_death, a_waiter_gets_it_at_once) {
    auto const dead = holder_of("x");
    peer mine{url};
    auto const waiting = mine.claim("x");
    ASSERT_TRUE(is_queued(mine.submit(waiting, true)));
    std::thread killer{[&] { dead->kill(); }};
    auto const began = base::boot_clock::now();
    auto const told = mine.next<seam::claim_granted>();
    killer.join();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->id, waiting.id);
    // By the end of the process, not by the look that is taken once a second at most.
    EXPECT_LT(base::boot_clock::now() - began, 600ms);
}

// Nobody waits for the name, so nobody is helped by its renewals either.
TEST_F(file_death, who_only_watches_is_told_within_a_second) {
    auto const dead = holder_of("x", {.name = {}, .lease = 120s});
    peer mine{url};
    mine.send(seam::watch{{lock_kind::lock, "x", seam::holders_part}});
    dead->kill();
    auto const began = base::boot_clock::now();
    EXPECT_TRUE(mine.next<seam::changed>());
    EXPECT_LT(base::boot_clock::now() - began, 5s);
}

TEST_F(file_death, who_has_watched_for_a_while_is_told_at_once) {
    auto const dead = holder_of("x", {.name = {}, .lease = 120s});
    peer mine{url};
    mine.send(seam::watch{{lock_kind::lock, "x", seam::holders_part}});
    EXPECT_FALSE(mine.next<seam::changed>(1200ms));  // by then it has looked who is there
    std::thread killer{[&] { dead->kill(); }};
    auto const began = base::boot_clock::now();
    EXPECT_TRUE(mine.next<seam::changed>());
    killer.join();
    EXPECT_LT(base::boot_clock::now() - began, 600ms);
}

// Not the one whose lease ends first, which is where a look at the name begins.
TEST_F(file_death, who_watches_a_name_with_many_holders_is_told_of_each) {
    seam::claim_spec const present{
        .name = "x", .kind = lock_kind::barrier, .mode = claim_mode::shared, .lease = 120s};
    auto const dead = holder_of("x", present);
    peer mine{url};
    auto its = present;
    its.lease = 60s;
    ASSERT_TRUE(is_granted(mine.submit(mine.claim(peer::spec(its)))));
    mine.send(seam::watch{{lock_kind::barrier, "x", {}}});
    EXPECT_EQ(number("SELECT count(*) FROM claims"), 2);
    dead->kill();
    auto const end = base::boot_clock::now() + 5s;
    while (number("SELECT count(*) FROM claims") > 1 && base::boot_clock::now() < end)
        mine.store().drive(base::boot_clock::now() + 100ms);
    EXPECT_EQ(number("SELECT count(*) FROM claims"), 1);
}

TEST_F(file_death, a_renewal_of_the_waiter_notices_too) {
    auto const dead = holder_of("x");
    peer mine{url};
    auto const waiting = mine.claim("x");
    mine.submit(waiting, true);
    EXPECT_EQ(mine.renew(waiting).found, seam::renewal::status::waiting);
    dead->kill();
    EXPECT_EQ(mine.renew(waiting).found, seam::renewal::status::alive);
}

TEST_F(file_death, a_dead_waiter_is_passed_over) {
    peer first{url};
    auto const held = first.claim("x");
    first.submit(held);
    child_process dead{[&](child_process& self) {
        peer its{url};
        its.submit(its.claim("x"), true);
        self.reach();
        self.await();
        return 0;
    }};
    dead.await();
    peer third{url};
    auto const waiting = third.claim("x");
    ASSERT_TRUE(is_queued(third.submit(waiting, true)));
    dead.kill();
    first.settle(held);
    ASSERT_TRUE(third.next<seam::claim_granted>());
}

TEST_F(file_death, a_dead_holder_among_many_is_found) {
    seam::claim_spec const permit{.name = "x",
                                  .kind = lock_kind::semaphore,
                                  .mode = claim_mode::permits,
                                  .limit = 2,
                                  .lease = 60s};
    auto const dead = holder_of("x", permit);
    peer mine{url};
    auto its = permit;
    its.lease = 30s;  // ends before that of the dead, which so is not the first to be looked at
    ASSERT_TRUE(is_granted(mine.submit(mine.claim(peer::spec(its)))));
    dead->kill();
    peer other{url};
    auto const waiting = other.claim(peer::spec(its));
    auto const answer = other.submit(waiting, true);
    EXPECT_TRUE(is_granted(answer) || other.next<seam::claim_granted>());
}

TEST_F(file_death, slots_are_used_again_and_never_speak_for_the_dead) {
    auto const dead = holder_of("x");
    dead->kill();
    peer mine{url};  // takes the slot of the dead
    mine.send(seam::hello{});
    peer other{url};
    other.send(seam::hello{});
    EXPECT_EQ(number("SELECT max(slot) FROM clients"), 1);
    EXPECT_TRUE(is_granted(other.submit(other.claim("x"))));
}

TEST_F(file_death, the_rows_of_the_dead_are_removed) {
    holder_of("x")->kill();
    holder_of("y")->kill();
    peer mine{url};
    auto const reading = peer::spec({.name = "z", .mode = claim_mode::shared});
    mine.submit(mine.claim(reading));
    mine.submit(mine.claim(reading));
    auto const waiting = mine.claim("z");
    mine.submit(waiting, true);
    auto const end = base::boot_clock::now() + long_enough;
    while (number("SELECT count(*) FROM clients") > 1 && base::boot_clock::now() < end)
        mine.store().drive(base::boot_clock::now() + 100ms);
    EXPECT_EQ(number("SELECT count(*) FROM clients"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM names"), 1);
}

TEST_F(file_death, closing_ends_what_was_left_and_leaves_no_row) {
    {
        peer mine{url};
        for (int i = 0; i < 600; ++i)
            ASSERT_TRUE(is_granted(mine.submit(mine.claim("x" + std::to_string(i)))));
        mine.send(seam::watch{{lock_kind::lock, "x1", {}}});
    }
    for (char const* const sql : {"SELECT count(*) FROM clients", "SELECT count(*) FROM claims",
                                  "SELECT count(*) FROM names", "SELECT count(*) FROM watches",
                                  "SELECT count(*) FROM notices", "SELECT watches FROM state"})
        EXPECT_EQ(number(sql), 0) << sql;
    peer other{url};
    EXPECT_TRUE(is_granted(other.submit(other.claim("x7"))));
}

// A FIFO belongs to the slot: the next client takes it as it is, unless its rights are wrong.
TEST_F(file_death, fifos_are_used_again) {
    auto const fifo = directory / "locks.db-wake/0";
    auto const number = [&] {
        struct stat status {};
        EXPECT_EQ(::stat(fifo.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777U, 0600U);
        EXPECT_EQ(status.st_uid, ::geteuid());
        return status.st_ino;
    };
    auto const came = [&] {
        peer mine{url};
        EXPECT_TRUE(is_granted(mine.submit(mine.claim("x"))));
        return number();
    };
    auto const first = came();
    // As long as somebody has it open, the system gives its number to no other.
    int const one = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_EQ(came(), first);
    auto const dead = holder_of("x");
    dead->kill();
    EXPECT_EQ(came(), first);
    ASSERT_EQ(::chmod(fifo.c_str(), 0640), 0);
    auto const second = came();
    EXPECT_NE(second, first);
    int const two = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(fifo.c_str(), nobody, static_cast<gid_t>(-1)), 0);
        EXPECT_NE(came(), second);
    }
    ::close(one);
    ::close(two);
}

// Else it would take wake-ups that are meant for whoever has its slot in the new file.
TEST_F(file_death, who_has_a_removed_file_open_lets_go_of_its_bell_at_a_ring) {
    auto const fifo = directory / "locks.db-wake/0";
    auto const open = [&] {
        long out = 0;
        for (auto const& each : std::filesystem::directory_iterator{"/proc/self/fd"}) {
            std::error_code gone;
            out += std::filesystem::read_symlink(each, gone) == fifo ? 1 : 0;
        }
        return out;
    };
    peer old{url};
    auto const former = old.claim("x");
    old.submit(former);
    old.settle(former);
    old.store().drive(base::boot_clock::now() + 1200ms);  // it has nothing to look after any more
    for (auto const* const each : {"", "-wal", "-shm", "-live"})
        std::filesystem::remove(directory / ("locks.db" + std::string{each}));
    peer waiter{url};
    peer holder{url};
    waiter.settle(waiter.claim("y"));  // the first to come has the first slot
    auto const held = holder.claim("x");
    ASSERT_TRUE(is_granted(holder.submit(held)));
    ASSERT_TRUE(is_queued(waiter.submit(waiter.claim("x"), true)));
    EXPECT_EQ(open(), 2);
    holder.settle(held);
    auto const end = base::boot_clock::now() + 10s;
    while (open() > 1 && base::boot_clock::now() < end)
        old.store().drive(base::boot_clock::now() + 50ms);
    EXPECT_EQ(open(), 1);
    EXPECT_TRUE(waiter.next<seam::claim_granted>());
}

TEST_F(file_death, a_closed_store_says_so) {
    peer mine{url};
    mine.send(seam::hello{});
    mine.store().shut();
    EXPECT_TRUE(error_of(mine.submit(mine.claim("x"))).is(errc::closed));
}

TEST_F(file_death, interrupt_ends_the_present_and_the_next_drive) {
    peer mine{url};
    mine.store().interrupt();
    mine.store().drive(base::never);
    std::thread other{[&] { mine.store().interrupt(); }};
    mine.store().drive(base::never);
    other.join();
    auto const end = base::boot_clock::now() + 20ms;
    mine.store().drive(end);
    EXPECT_GE(base::boot_clock::now(), end);
}

TEST_F(file_death, a_byte_tells_who_is_there) {
    using namespace stores::file;
    auto const where = location::prepare({.path = directory / "locks.db"});
    presence one{where.companion_file("-live")};
    presence two{where.companion_file("-live")};
    EXPECT_EQ(one.side(), two.side());
    EXPECT_TRUE(two.vacant(3));
    ASSERT_TRUE(one.take(3));
    EXPECT_FALSE(two.vacant(3));
    EXPECT_FALSE(two.take(3));
    one.abandon();
    EXPECT_TRUE(two.vacant(3));
    EXPECT_TRUE(two.take(3));
    EXPECT_FALSE(one.vacant(3));  // without a file there is no proof
}

}  // namespace
}  // namespace holdfast::test
