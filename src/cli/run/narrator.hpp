// Says who is waited for, while somebody watches.
#pragma once

#include <condition_variable>
#include <optional>
#include <thread>

#include <holdfast/client.hpp>

#include "base/mutex.hpp"
#include "run/holder.hpp"
#include "run/holder_probe.hpp"
#include "store_silence.hpp"

namespace holdfast::cli {

/// From a thread of its own, until it is destroyed: a `waiting` message every second, for a terminal, on who holds the
/// name or on a store that does not answer; where nobody watches and the plan is verbose, a `silent` one now and then.
class narrator {
public:
    narrator(client& client, holder_task& task);

private:
    void tell(std::stop_token over);
    [[nodiscard]] std::optional<message> next(std::stop_token const& over);
    [[nodiscard]] std::optional<message> on_silence(store_silence const& silence);

    client& client_;
    holder_task& task_;
    store_silence first_contact_;
    std::optional<holder_probe> probe_{};
    base::instant next_line_{};  ///< of those for a log
    base::mutex mutex_{};        ///< guards nothing: a wait needs one
    std::condition_variable_any wake_{};
    std::jthread thread_;  // the last: it uses all the others
};

}  // namespace holdfast::cli
