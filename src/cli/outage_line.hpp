// A line that says what is being tried while a store does not answer.
#pragma once

#include <condition_variable>
#include <optional>
#include <thread>
#include <utility>

#include <holdfast/client.hpp>

#include "base/mutex.hpp"
#include "invocation.hpp"
#include "run/wait_line.hpp"
#include "store_silence.hpp"

namespace holdfast::cli {

/// From one second after its construction until its end, whenever the store has not answered for a second: refreshed in
/// place on a terminal; elsewhere with --verbose, now and then. For a client of `open_client` that has asked
/// nothing yet. Ends before anything else is written.
class outage_line {
public:
    outage_line(client const& client, invocation const& invocation);
    outage_line(outage_line const&) = delete;
    outage_line& operator=(outage_line const&) = delete;

    /// Erases it, for whoever writes while it lives. Thread-safe.
    void clear();

private:
    void tell(std::stop_token over);
    [[nodiscard]] bool wait_for_contact(std::stop_token const& over);
    void watch(std::stop_token const& over);
    void show(store_silence const& silence);

    client client_;
    trouble_log trouble_;
    store_silence first_contact_;
    base::mutex mutex_{};
    wait_line line_ HOLDFAST_GUARDED_BY(mutex_){true};
    base::instant next_line_ HOLDFAST_GUARDED_BY(mutex_){};  ///< of those for a log
    std::jthread thread_{};                                  // the last: it uses all the others
};

/// The value of call(), with an outage_line as long as it lasts.
template <class Call>
auto contacted(client const& client, invocation const& invocation, Call call) {
    outage_line const line{client, invocation};
    return std::move(call)();
}

}  // namespace holdfast::cli
