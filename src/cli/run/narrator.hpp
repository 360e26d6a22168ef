// Says who is waited for, while somebody watches.
#pragma once

#include <condition_variable>
#include <string>
#include <thread>

#include <holdfast/client.hpp>

#include "base/mutex.hpp"
#include "run/link.hpp"

namespace holdfast::cli {

/// "held by HOST:PID (LABEL) for 12s; 3 wait": who has the name now; empty when nobody does or the
/// store does not say.
[[nodiscard]] std::string describe_holder(client& client, std::string const& name);

/// Sends a `waiting` message every second from a thread of its own, until it is destroyed.
class narrator {
public:
    narrator(client& client, std::string name, link& line);

private:
    void tell(std::stop_token over);

    client& client_;
    std::string name_;
    link& line_;
    base::mutex mutex_{};  ///< guards nothing: a wait needs one
    std::condition_variable_any wake_{};
    std::jthread thread_;  // the last: it uses all the others
};

}  // namespace holdfast::cli
