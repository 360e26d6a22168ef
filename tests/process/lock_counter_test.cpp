// Many processes add to one number in a file that protects nothing by itself.
#include <fstream>

#include "process/lock_processes.hpp"

namespace holdfast::processes {

namespace {

class lock_counter : public lock_processes {
protected:
    [[nodiscard]] long counted() const {
        long value = 0;
        std::ifstream{path("counter")} >> value;
        return value;
    }
};

TEST_F(lock_counter, no_update_is_lost) {
    constexpr int processes = 32;
    constexpr int times = 200;
    std::vector<std::unique_ptr<process>> crowd;
    for (int i = 0; i < processes; ++i)
        crowd.push_back(start());
    for (auto const& it : crowd)
        it->send("count q " + path("counter") + " " + std::to_string(times));
    for (auto const& it : crowd)
        EXPECT_EQ(it->read(180s), "done");
    EXPECT_EQ(counted(), processes * times);
    EXPECT_TRUE(shows("q", 0, 0));
    for (auto const& it : crowd)
        EXPECT_EQ(it->finish(), 0);
}

TEST_F(lock_counter, nor_while_some_of_them_are_killed) {
    constexpr int processes = 8;
    constexpr int times = 100;
    std::vector<std::unique_ptr<process>> crowd;
    std::vector<std::unique_ptr<process>> doomed;
    for (int i = 0; i < processes; ++i)
        crowd.push_back(start());
    for (auto const& it : crowd)
        it->send("count q " + path("counter") + " " + std::to_string(times));
    for (int i = 0; i < 6; ++i) {
        doomed.push_back(start());
        EXPECT_GT(token(doomed.back()->ask("acquire q lease=120000")), 0U);
        doomed.back()->kill();
    }
    for (auto const& it : crowd)
        EXPECT_EQ(it->read(120s), "done");
    EXPECT_EQ(counted(), processes * times);
}

}  // namespace

}  // namespace holdfast::processes
