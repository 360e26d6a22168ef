// The wait for the lock, in the holder.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include "run/boot_timer.hpp"
#include "run/holder.hpp"

namespace holdfast::cli {

class acquisition {
public:
    struct outcome {
        std::optional<holdfast::lease> lease{};
        int status{0};       ///< without a lease
        std::string text{};  ///< what to say, if anything
    };

    acquisition(holder_task& task, client& client) noexcept : task_{task}, client_{client} {}

    [[nodiscard]] outcome run();

private:
    void listen(int over);
    [[nodiscard]] std::optional<lease> acquire();
    [[nodiscard]] std::optional<lease> campaign();
    [[nodiscard]] outcome refused();

    holder_task& task_;
    client& client_;
    std::stop_source give_up_{};
    bool too_late_{false};  ///< the time of a campaign was over
    boot_timer campaign_end_{};
    int signal_{0};  ///< that was sent to this very process
};

}  // namespace holdfast::cli
