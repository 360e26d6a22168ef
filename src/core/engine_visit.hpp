// One visit of the engine by whoever runs it: at its end the callers are told what has become of their calls.
#pragma once

#include "core/engine.hpp"

namespace holdfast::core {

/// `engine_visit{engine}->begin(call, now)`: every event is fed through one, so that no call goes before its
/// caller was told.
///
/// Thread-safety: as the engine's; the callers are told under the same lock.
class engine_visit {
public:
    explicit engine_visit(engine& whom) noexcept : engine_{whom} {}
    ~engine_visit() {
        auto& calls = engine_.todo().calls;
        for (auto const& event : calls)
            event.tell();
        calls.clear();
    }
    engine_visit(engine_visit const&) = delete;
    engine_visit& operator=(engine_visit const&) = delete;

    [[nodiscard]] engine* operator->() const noexcept { return &engine_; }
    [[nodiscard]] engine& operator*() const noexcept { return engine_; }

private:
    engine& engine_;
};

}  // namespace holdfast::core
