// The wait for the lock, in the holder.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include "base/boot_timer.hpp"
#include "base/event.hpp"
#include "run/holder.hpp"

namespace holdfast::cli {

/// Listens while it waits: to the supervisor, to signals, to the end of a campaign. Lives as long as the
/// hold, so that nobody waits for the listener's end between the grant and the start of the command.
class acquisition {
public:
    struct outcome {
        std::optional<holdfast::lease> lease{};
        int status{0};       ///< without a lease
        std::string text{};  ///< what to say, if anything
    };

    acquisition(holder_task& task, client& client);
    acquisition(acquisition const&) = delete;
    acquisition& operator=(acquisition const&) = delete;
    ~acquisition();

    /// Once.
    [[nodiscard]] outcome run();

private:
    void listen();
    void stop_listening() noexcept;
    [[nodiscard]] std::optional<lease> wait();
    [[nodiscard]] std::optional<lease> acquire();
    [[nodiscard]] std::optional<lease> campaign();
    [[nodiscard]] outcome refused();

    holder_task& task_;
    client& client_;
    base::event over_{};  ///< tells the listener that it is
    std::optional<base::boot_timer> campaign_end_{};
    std::stop_source give_up_{};
    std::atomic<bool> too_late_{false};  ///< the time of a campaign was over
    std::atomic<int> signal_{0};         ///< that was sent to this very process
    std::thread listener_;               // the last: it uses all the others
};

}  // namespace holdfast::cli
