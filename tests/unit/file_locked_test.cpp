// A file that another process keeps locked: who waits for it, how long, and what becomes of the request.
#include <sqlite3.h>

#include "unit/file_fixture.hpp"

namespace holdfast::test {
namespace {

/// Another program that writes to the file, for as long as the test wants.
class foreign_writer {
public:
    explicit foreign_writer(std::string const& path) {
        EXPECT_EQ(sqlite3_open(path.c_str(), &file_), SQLITE_OK);
    }
    foreign_writer(foreign_writer const&) = delete;
    foreign_writer& operator=(foreign_writer const&) = delete;
    ~foreign_writer() { sqlite3_close(file_); }

    void begin() { execute("BEGIN IMMEDIATE"); }
    void end() { execute("ROLLBACK"); }

private:
    void execute(char const* sql) {
        EXPECT_EQ(sqlite3_exec(file_, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    }

    sqlite3* file_{nullptr};
};

class file_locked : public testing::Test {
protected:
    file_locked() { peer{url}.send(seam::hello{}); }  // makes the file

    void expect_locked(seam::reply const& answer) const {
        auto const error = error_of(answer);
        EXPECT_TRUE(error.is(errc::store_unavailable)) << error.code << " " << error.text;
        EXPECT_NE(error.text.find(path), std::string::npos) << error.text;
        EXPECT_NE(error.text.find("?timeout="), std::string::npos) << error.text;
    }

    scratch_directory directory;
    std::string const path = directory / "locks.db";
    std::string const url = "file:" + path;
};

TEST_F(file_locked, a_writer_that_does_not_come_to_an_end) {
    foreign_writer other{path};
    peer mine{url + "?timeout=60ms"};
    mine.send(seam::hello{});
    other.begin();
    auto const began = base::boot_clock::now();
    expect_locked(mine.submit(mine.claim("x")));
    EXPECT_GE(base::boot_clock::now() - began, 60ms);
    other.end();
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("x"))));
}

// Neither who has the file open nor who comes to it is kept inside of the call; in order all the same.
TEST_F(file_locked, requests_on_a_locked_file_wait_in_order_and_keep_nobody) {
    foreign_writer other{path};
    peer mine{url};
    mine.send(seam::hello{});
    peer fresh{url};
    other.begin();
    auto const began = base::boot_clock::now();
    auto const hello = fresh.begin(seam::hello{});
    seam::submit const twice[]{{{mine.claim("x")}, false, seam::store_time::max()},
                               {{mine.claim("x")}, false, seam::store_time::max()}};
    auto const first = mine.begin(twice[0]);
    auto const second = mine.begin(twice[1]);
    mine.store().drive(base::boot_clock::now() + 50ms);
    EXPECT_LT(base::boot_clock::now() - began, 2s);  // ?timeout= is 5 s
    EXPECT_FALSE(fresh.answered(hello) || mine.answered(first) || mine.answered(second));
    other.end();
    EXPECT_FALSE(error_of(fresh.await(hello)));
    EXPECT_TRUE(is_granted(mine.await(first)));
    EXPECT_TRUE(is_refused(mine.await(second), seam::refusal::busy));
}

TEST_F(file_locked, a_submit_that_was_given_up_on_a_locked_file_takes_nothing) {
    peer mine{url};
    mine.send(seam::hello{});
    foreign_writer other{path};
    other.begin();
    auto const soon = std::chrono::floor<std::chrono::microseconds>(
        (base::boot_clock::now() + 100ms).time_since_epoch());
    auto const answer = mine.send(seam::submit{{mine.claim("x")}, true, seam::store_time{soon}});
    expect_locked(answer);
    auto const late = mine.begin(seam::submit{{mine.claim("x")}, true, seam::store_time{soon}});
    other.end();
    if (!mine.answered(late)) mine.store().drive(base::boot_clock::now() + 1s);
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("x"))));
}

TEST_F(file_locked, a_client_that_closes_does_not_wait_for_a_locked_file) {
    foreign_writer other{path};
    peer mine{url};
    auto const held = mine.claim("x");
    mine.submit(held);
    other.begin();
    auto const left = mine.begin(seam::settle{{held}});
    EXPECT_FALSE(mine.answered(left));
    auto const began = base::boot_clock::now();
    mine.store().shut();
    EXPECT_LT(base::boot_clock::now() - began, 1500ms);
    EXPECT_TRUE(error_of(mine.submit(mine.claim("y"))).is(errc::closed));
    other.end();
    peer next{url};
    EXPECT_TRUE(is_granted(next.submit(next.claim("x"))));
}

}  // namespace
}  // namespace holdfast::test
