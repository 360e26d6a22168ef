// The instruments of a run: the fenced register, and the journal that outlives its process.
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "histories/fenced_register.hpp"
#include "histories/journal.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::histories {
namespace {

register_user by(std::uint64_t token, mode how = mode::exclusive) {
    register_user out;
    out.token = token;
    out.mode = how;
    return out;
}

class instruments_test : public ::testing::Test {
protected:
    support::temporary_directory place_;
};

TEST_F(instruments_test, a_read_bars_older_writers) {
    fenced_register const target{place_.path() / "r"};
    EXPECT_EQ(target.read(by(10)), 0);
    EXPECT_EQ(target.read(by(11)), 0);
    EXPECT_FALSE(target.write(by(10), 1, 0));
    EXPECT_TRUE(target.write(by(11), 1, 0));
    EXPECT_EQ(target.read(by(12)), 1);
}

TEST_F(instruments_test, readers_do_not_bar_each_other) {
    fenced_register const target{place_.path() / "r"};
    EXPECT_TRUE(target.read(by(11, mode::shared)));
    EXPECT_TRUE(target.read(by(10, mode::shared)));
    EXPECT_FALSE(target.write(by(10), 1, 0));
    EXPECT_TRUE(target.write(by(12), 1, 0));
    EXPECT_FALSE(target.read(by(11, mode::shared)));
}

TEST_F(instruments_test, without_the_check_anybody_writes) {
    fenced_register const target{place_.path() / "r", false};
    EXPECT_TRUE(target.write(by(11), 1, 0));
    EXPECT_TRUE(target.write(by(10), 1, 0));
    EXPECT_EQ(target.uses("r").size(), 2U);
}

TEST_F(instruments_test, a_journal_outlives_its_process) {
    auto const path = place_.path() / "j";
    auto const child = ::fork();
    if (child == 0) {
        journal mine{path, 1000};
        for (int i = 0; i < 500; ++i) {
            event one;
            one.number = i;
            mine.append(one);
        }
        mine.advance(3);
        ::raise(SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    journal const theirs{path, 1000};
    auto const events = theirs.read();
    ASSERT_EQ(events.size(), 500U);
    EXPECT_EQ(events.back().number, 499);
    EXPECT_EQ(theirs.progress(3), 1U);
}

TEST_F(instruments_test, a_full_journal_says_so) {
    journal mine{place_.path() / "j", 1};
    mine.append({});
    EXPECT_THROW(mine.append({}), std::runtime_error);
}

}  // namespace
}  // namespace holdfast::histories
