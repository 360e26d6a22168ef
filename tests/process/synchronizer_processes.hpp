// Processes that meet at latches, barriers, conditions and elections of one file store.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "process/lock_processes.hpp"

namespace holdfast::processes {

class synchronizer_processes : public lock_processes {
protected:
    /// A worker whose claims have a lease of so long.
    [[nodiscard]] std::unique_ptr<process> start_with(std::string_view lease) const {
        return std::make_unique<process>(
            std::vector<std::string>{HOLDFAST_TEST_WORKER, url() + "?lease=" + std::string{lease}});
    }

    [[nodiscard]] lock_info listed(std::string_view name) {
        for (auto& info : watcher_.locks(name))
            if (info.name == name) return std::move(info);
        return {};
    }
    /// Whether so many come to be counted at a barrier.
    [[nodiscard]] bool arrives(std::string_view name, std::uint64_t many) {
        return eventually([&] { return listed(name).count == many; });
    }

    /// What a worker would say of its arrival, from a thread of this process.
    [[nodiscard]] static std::future<std::string> arrive(client const& with, std::string name,
                                                         std::uint32_t parties) {
        return std::async(std::launch::async, [&with, name = std::move(name), parties] {
            try {
                barrier it{with, name, parties};
                return "tripped " + std::to_string(it.arrive_and_wait());
            } catch (std::system_error const& error) {
                if (error.code() != errc::broken_barrier) throw;
                return std::string{"broken"};
            }
        });
    }

    /// Waits once for a notice of "c", under a mutex that nobody else wants.
    [[nodiscard]] static std::future<void> await_notice(client const& with) {
        return std::async(std::launch::async, [&with] {
            mutex guard{with, "quiet"};
            std::unique_lock lock{guard};
            condition_variable{with, "c"}.wait(lock);
        });
    }

    template <class Future>
    [[nodiscard]] static bool ready(Future const& it, std::chrono::milliseconds bound = patience) {
        return it.wait_for(bound) == std::future_status::ready;
    }
};

}  // namespace holdfast::processes
