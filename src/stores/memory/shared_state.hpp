// One memory store: what all clients of one `memory:NAME` share. The reference implementation.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/alarm.hpp"
#include "base/mutex.hpp"
#include "seam/store.hpp"
#include "stores/lease/rules.hpp"
#include "stores/memory/memory_ledger.hpp"

namespace holdfast::stores::memory {

/// The rules over the ledger, with the time passed in. Single-threaded: the simulation runs it as it
/// is, on simulated time.
class machine {
public:
    explicit machine(std::uint64_t first_sequence) : ledger_{first_sequence} {}

    /// Time never goes back: a request that was stamped before its predecessor counts as later.
    [[nodiscard]] seam::reply handle(std::shared_ptr<seam::identity const> const& from,
                                     seam::request const& what, seam::store_time now,
                                     std::vector<lease::directed_notice>& notices);

    void forget(seam::client_id client) { ledger_.forget(client); }
    [[nodiscard]] std::size_t size() const noexcept { return ledger_.size(); }

private:
    void forget_overdue(lease::rules& rules);

    memory_ledger ledger_;
    seam::store_time now_{};
};

/// Where notices for one client wait until its driver fetches them.
/// Thread-safety: all members may be called from any thread at once.
class mailbox {
public:
    void put(seam::notice what);
    void interrupt() noexcept;
    /// Readable when a wait would end at once.
    [[nodiscard]] int descriptor() const noexcept { return alarm_.ring_descriptor(); }

    /// Waits until there are notices, `until` has come, or somebody interrupts.
    [[nodiscard]] std::deque<seam::notice> wait(base::instant until);

private:
    base::mutex mutex_;
    std::deque<seam::notice> notices_ HOLDFAST_GUARDED_BY(mutex_);
    base::alarm alarm_;
};

/// The machine behind a lock, with a mailbox per client.
/// Thread-safety: all members may be called from any thread at once.
class shared_state {
public:
    shared_state();

    /// The one of this name in this process, made on first use and kept as long as anybody uses it;
    /// the unnamed one for ever.
    [[nodiscard]] static std::shared_ptr<shared_state> named(std::string const& name);

    [[nodiscard]] seam::reply handle(std::shared_ptr<seam::identity const> const& from,
                                     seam::request const& what);
    void join(seam::client_id client, std::shared_ptr<mailbox> box);
    void leave(seam::client_id client);

private:
    base::mutex mutex_;
    machine machine_ HOLDFAST_GUARDED_BY(mutex_);
    /// Of the request being handled.
    std::vector<lease::directed_notice> notices_ HOLDFAST_GUARDED_BY(mutex_);
    std::map<seam::client_id, std::shared_ptr<mailbox>> boxes_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::stores::memory
