// A question to the store that may remain unanswered: who holds a name.
#pragma once

#include <condition_variable>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/client.hpp>

#include "base/mutex.hpp"
#include "store_silence.hpp"

namespace holdfast::cli {

/// "held by HOST:PID (LABEL) for 12s; 3 wait": who has the name now; empty when nobody does or the
/// store does not say.
[[nodiscard]] std::string describe_holder(client& client, std::string const& name);

/// Asked by a thread of its own, which nobody waits for: whoever gives up must not have to wait for a store that is
/// silent. The process ends by _exit.
class holder_probe {
public:
    holder_probe(client const& client, std::string const& name, store_silence silence);

    /// What describe_holder says, as soon as it does, but not much later than it would with a store that answers.
    [[nodiscard]] std::optional<std::string> wait(std::stop_token const& over);

    [[nodiscard]] store_silence const& silence() const noexcept { return silence_; }

private:
    struct answer {
        base::mutex mutex{};
        std::condition_variable_any given{};
        std::optional<std::string> text HOLDFAST_GUARDED_BY(mutex){};
    };

    store_silence silence_;
    std::shared_ptr<answer> answer_{std::make_shared<answer>()};
};

}  // namespace holdfast::cli
