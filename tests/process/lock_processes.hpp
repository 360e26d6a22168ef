// Processes that share one file store.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/eventually.hpp"
#include "support/fenced_file.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::processes {

using namespace std::chrono_literals;
using support::eventually;
using support::patience;
using support::process;
using support::stopwatch;

class lock_processes : public testing::Test {
protected:
    [[nodiscard]] std::string url() const { return "file:" + path("locks.db"); }

    [[nodiscard]] std::string path(char const* name) const {
        return (place_.path() / name).string();
    }

    [[nodiscard]] std::unique_ptr<process> start() const {
        return std::make_unique<process>(std::vector<std::string>{HOLDFAST_TEST_WORKER, url()});
    }

    /// The token in a worker's answer to `acquire`; 0 when it holds nothing.
    [[nodiscard]] static std::uint64_t token(std::string const& answer) {
        constexpr std::string_view held = "held ";
        EXPECT_TRUE(answer.starts_with(held)) << answer;
        return answer.starts_with(held) ? std::stoull(answer.substr(held.size())) : 0;
    }

    /// Whether `name` comes to have so many holders and waiters.
    [[nodiscard]] bool shows(std::string_view name, std::size_t holders, std::size_t waiters) {
        return eventually([&] {
            for (auto const& info : watcher_.locks())
                if (info.name == name)
                    return info.holders.size() == holders && info.waiters.size() == waiters;
            return holders + waiters == 0;
        });
    }

    /// Stops it at a moment at which it has not locked the store's file: there it would stop everybody
    /// else too, which is another story.
    void put_to_sleep(process& whom) const {
        client probe{url() + "?timeout=200ms", {.patience = 200ms}};
        EXPECT_TRUE(eventually([&] {
            whom.stop();
            try {
                return mutex{probe, "probe"}.try_acquire().has_value();
            } catch (std::system_error const&) {
                whom.resume();
                return false;
            }
        }));
    }

    /// `sleeper` holds by the token `before`, and is stopped until `next` has got the same by `take`.
    /// That it has lost is the first that it knows when it wakes, and its late write is refused.
    /// Returns what it answers to `last`.
    [[nodiscard]] std::string oversleep(process& sleeper, process& next, std::uint64_t before,
                                        std::string_view take, std::string_view last) const {
        auto const account = path("account");
        put_to_sleep(sleeper);
        // What it will read when it wakes, before any of its threads had time to think.
        sleeper.send("state");
        sleeper.send("write " + account + " late");
        sleeper.send("await-loss 20000");
        sleeper.send(last);
        EXPECT_GT(token(next.ask(take)), before);
        EXPECT_EQ(next.ask("write " + account + " second"), "written");
        sleeper.resume();
        EXPECT_EQ(sleeper.read(), "lost");
        EXPECT_EQ(sleeper.read(), "refused");
        EXPECT_EQ(sleeper.read(), "told");
        auto out = sleeper.read();
        EXPECT_EQ(support::fenced_file{account}.read(), "second");
        EXPECT_EQ(next.ask("state"), "held");
        return out;
    }

private:
    support::temporary_directory place_;

protected:
    client watcher_{url()};
};

}  // namespace holdfast::processes
