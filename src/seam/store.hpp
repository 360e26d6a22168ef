// The seam between the core and a store: one class, one round trip per request.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/options.hpp>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/url.hpp"
#include "seam/notice.hpp"

namespace holdfast::seam {

/// What a store can do; fixed for the life of a store object.
struct capabilities {
    /// A claim can wait at the store, and is told when it is granted; who moves the line is the store's
    /// affair. Without one, the client asks again and again.
    bool line{true};
    bool instant{false};  ///< `send` answers at once, never blocks, and may be called under a lock
    bool prompt{false};   ///< `send` leaves the request to the system or a buffer and never blocks
    bool parks{false};    ///< it knows revocation words: a claim that is put aside counts as free
    bool lanes{false};    ///< it consists of several servers: see `store::lane_of`
    /// A claim ends by itself when its lease does. Without that it ends with its client's session, and a
    /// claim that is given up while the session lives must be settled.
    bool per_claim_lease{true};
    /// It neither lets a lease be longer nor keeps a name taken for longer.
    std::chrono::milliseconds longest_lease{std::chrono::hours{24 * 365}};
};

/// Who the client is, for the store's records.
struct identity {
    client_id id{};
    std::string host;
    std::int64_t pid{0};
    std::string label;
};

/// Receives what a store has to tell. Called only from inside `store::drive`, with no lock of the
/// store held.
class event_sink {
public:
    virtual void on_reply(request_id id, reply answer) = 0;
    virtual void on_notice(notice what) = 0;

protected:
    ~event_sink() = default;
};

/// One client's access to one store. None of its functions retries, waits for a lock to become
/// free, or decides anything about leases: time, retry, renewal and loss belong to the core.
///
/// Thread-safety: `send`, `flush` and `interrupt` may be called from any thread at any time, also while
/// another thread is inside `drive`; `drive` and `shut` by one thread at a time.
/// Lifetime: the sink outlives the store.
class store {
public:
    store() = default;
    store(store const&) = delete;
    store& operator=(store const&) = delete;
    virtual ~store() = default;

    [[nodiscard]] virtual capabilities abilities() const = 0;

    /// Which of its servers serves the name at present; see `lane_id`. Cheap, and never blocks: it is asked
    /// for every claim of a renewal. From any thread.
    [[nodiscard]] virtual lane_id lane_of(std::string_view /*name*/) const noexcept { return {}; }

    /// A descriptor that is readable when `drive` has something to do, so that one thread can drive many
    /// stores; -1 where there is none. The store's own: it must not be read or closed. From any thread.
    [[nodiscard]] virtual int descriptor() noexcept { return -1; }

    /// Begins one request. Returns the answer when it is known at once; otherwise the sink receives
    /// exactly one reply with this id later, a failure when the connection breaks. A store that is
    /// not connected connects first. Never throws: trouble is a `failure`.
    [[nodiscard]] virtual std::optional<reply> send(request_id id, request what) noexcept = 0;

    /// Waits for replies and notices and gives them to the sink; returns when it delivered some, at
    /// `until`, or on `interrupt`, whichever is first. When `until` has passed, it takes what is there and
    /// does not wait.
    virtual void drive(base::instant until) = 0;

    /// Nobody drives for a while: sends what `send` and `drive` have left to whoever drives next. Does not wait.
    virtual void flush() noexcept {}

    /// Makes the present or the next `drive` return soon. Async-signal-unsafe, cheap.
    virtual void interrupt() noexcept = 0;

    /// Ends the connection without further requests. Requests under way are answered by failures
    /// or not at all.
    virtual void shut() noexcept = 0;

    /// In the child of a fork: give up descriptors that would keep the parent's presence alive,
    /// and nothing else. Called once, with no other thread alive.
    virtual void abandon_in_child() noexcept {}

    /// A descriptor for others who use this client's holds: as long as one of its copies is open, in
    /// whatever process, the store does not take the client for dead, and the holds end with their
    /// leases only. Empty where a store knows of no death but by leases. From any thread.
    [[nodiscard]] virtual base::descriptor presence() noexcept { return {}; }
};

/// What a store needs to begin.
struct store_context {
    base::url url;
    identity self;
    event_sink& sink;
    std::function<void(log_level, std::string)> log;  ///< thread-safe, never empty
    /// Makes another store, for those that are made of stores. Throws as `store_module::make` does.
    std::function<std::unique_ptr<store>(base::url, event_sink&)> open{};
};

/// What a store module exports: `extern "C" store_module const* holdfast_store_<module>_v1()`.
struct store_module {
    /// Checks the URL (throws errc::bad_url) and makes a store that has not connected yet.
    std::unique_ptr<store> (*make)(store_context context);
    /// What has to be in the store beforehand where the client may not make it, as its administrator would enter
    /// it. Checks the URL as `make` does; talks to nobody. Missing where nothing is needed.
    std::string (*schema)(base::url const& url){nullptr};
};

}  // namespace holdfast::seam
