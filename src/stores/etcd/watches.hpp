// What this client watches in etcd, over all streams that come and go.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "stores/compare/outbox.hpp"
#include "stores/compare/retry_pause.hpp"
#include "stores/etcd/connection.hpp"
#include "stores/etcd/keys.hpp"
#include "stores/etcd/watch_stream.hpp"

namespace holdfast::stores::etcd {

/// Keeps watches in force. A new stream goes on where the old one ended, so nothing is missed; unless the
/// history of that time was thrown away (compaction), which is told once the watch is in force again. One that was in force
/// and is refused, because of a right that was taken away, is a doubt, and is asked for until it is in force again.
///
/// Thread-safety: none; the driver serialises.
class watches {
public:
    /// Names one watch for as long as it lasts.
    using id = std::int64_t;

    struct subject {
        key_range range;  ///< without an end: one key
        bool deletions_only{false};
        bool patient{
            false};  ///< waits for a cluster that is out of reach, and for a right; others are refused
        std::function<void(wire::Event const& event)> on_event;
        /// From here on nothing is missed. Called for the first time, and after each loss of history, then with
        /// `again`. With a fault the watch was refused before it was in force, and is forgotten; not when it is patient.
        std::function<void(fault const& trouble, bool again)> on_force;
    };

    watches(settings const& of, connection& by, grpc::CompletionQueue& on, compare::outbox& to)
        : settings_{of}, connection_{by}, queue_{on}, out_{to} {}

    id add(subject what);
    void remove(id which);

    /// The connection is there; or it is gone.
    void on_ready();
    void on_lost();
    /// Every member was tried in vain.
    void on_unreachable(base::error const& why);
    /// Asks again for those that were refused, when it is time for it.
    void on_time(base::instant now);
    [[nodiscard]] base::instant next_time() const noexcept { return ask_again_; }
    /// A stream of the present or the past has not ended yet.
    [[nodiscard]] bool busy() const noexcept { return streams_ > 0; }

private:
    struct watch {
        subject what;
        std::int64_t next{0};  ///< revision from which on nothing was heard yet; 0: from now on
        std::int64_t number{
            0};            ///< on this stream; etcd takes none a second time. 0: it was refused
        bool told{false};  ///< that it is in force, since history was lost
        bool again{false};
        bool denied{false};  ///< once, since it was last in force
        bool lapsed{false};  ///< refused, and to be asked for again
    };

    void open();
    void ask(id which, watch& of);
    void on_message(wire::WatchResponse const& message);
    bool on_created(wire::WatchResponse const& message);
    void on_canceled(id which, wire::WatchResponse const& message);
    void on_end(grpc::Status const& status, route const& by);
    void lapse(watch& of, base::error const& why);

    settings const& settings_;
    connection& connection_;
    grpc::CompletionQueue& queue_;
    compare::outbox& out_;
    std::map<id, watch> all_;
    id last_{0};
    std::int64_t last_number_{0};
    std::map<std::int64_t, id> by_number_;  ///< of this stream
    std::deque<id> asked_;  ///< not answered yet on this stream; answers come in this order
    std::size_t streams_{0};
    std::shared_ptr<watch_stream> stream_;
    std::string member_;
    compare::retry_pause pause_{std::chrono::milliseconds{250}, std::chrono::milliseconds{4000}};
    base::instant ask_again_{base::never};
};

}  // namespace holdfast::stores::etcd
