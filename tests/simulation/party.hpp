// A party at a synchronizer: somebody of a client's process who arrives, counts, waits or observes.
#pragma once

#include <functional>
#include <memory>
#include <system_error>

#include "core/task.hpp"
#include "simulation/client.hpp"
#include "simulation/holds.hpp"

namespace holdfast::simulation {

class party {
public:
    party(world& where, client& home) noexcept : world_{where}, home_{home} {}
    party(party const&) = delete;
    party& operator=(party const&) = delete;
    virtual ~party() = default;

    virtual void start() = 0;
    /// Begins nothing new, and comes to rest.
    virtual void retire() { retired_ = true; }
    /// Its process was killed.
    virtual void vanish() {}
    virtual void on_lost(local_hold const&) {}
    [[nodiscard]] virtual bool at_rest() const = 0;
    /// Since when it waits for what should come by itself; nothing when it does not.
    [[nodiscard]] virtual std::optional<moment> stuck_since() const { return std::nullopt; }
    [[nodiscard]] virtual std::string text() const = 0;

protected:
    [[nodiscard]] bool over() const noexcept { return retired_ || home_.closed(); }
    void later(moment delay, std::function<void()> what);
    /// Between two things that it does.
    void think(std::function<void()> what);

    world& world_;
    client& home_;
    bool retired_{false};
};

/// One script on behalf of a party.
class errand final : public core::completion {
public:
    struct end {
        std::error_code error{};
        std::string text{};
        bool stopped{false};
        [[nodiscard]] bool well() const noexcept { return !error && !stopped; }
    };

    errand(world& where, client& home, core::task_call::body what)
        : world_{where}, home_{home}, call_{std::move(what), *this} {}

    /// `then` runs in the client's process, a little after the script has ended.
    void begin(base::instant deadline, std::function<void(end const&)> then);
    void stop();
    [[nodiscard]] bool pending() const noexcept { return !call_.done; }
    void completed() noexcept override;

    std::function<void()> at_once{};  ///< under the engine, which it must not call

private:
    [[nodiscard]] end how() const;

    world& world_;
    client& home_;
    core::task_call call_;
    std::function<void(end const&)> then_{};
};

}  // namespace holdfast::simulation
