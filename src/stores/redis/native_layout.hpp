// holdfast's own layout: how requests become calls of its scripts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "stores/redis/claim_secrets.hpp"
#include "stores/redis/keys.hpp"
#include "stores/redis/layout.hpp"

namespace holdfast::stores::redis {

/// What a listing has found, for its next page: the keys of records.
struct unfinished_listing {
    std::string prefix;
    bool waited_for{false};
    std::string after;  ///< the last name that was listed
    std::set<std::string> records;
};

class native_layout final : public layout {
public:
    /// `slots` are those of a cluster, else nullptr.
    native_layout(std::string prefix, seam::identity const& self, claim_secrets secrets = {},
                  std::shared_ptr<slot_map const> slots = nullptr);

    [[nodiscard]] seam::capabilities abilities() const override { return {}; }
    [[nodiscard]] std::unique_ptr<exchange> begin(seam::request what) const override;
    [[nodiscard]] std::string channel() const override { return keys_.channel(client_); }
    [[nodiscard]] heard read(std::string_view message) const override;

    [[nodiscard]] slot_number slot_of(std::string_view name) const noexcept override {
        return key_space::slot_of_name(name);
    }

    [[nodiscard]] key_space const& keys() const noexcept { return keys_; }
    /// The slots of a cluster, else nullptr.
    [[nodiscard]] slot_map const* slots() const noexcept { return slots_.get(); }

    /// A call for one name, up to and including the name. It takes effect in the order of all requests of the name.
    [[nodiscard]] command call(script const& what, std::string_view name, bool condition) const;
    [[nodiscard]] command call_on(script const& what, std::string_view record,
                                  std::string_view name) const;
    /// Up to the keys and the prefix; with a ballot also the keys that it needs.
    [[nodiscard]] command call_unnamed(script const& what, std::string_view record,
                                       seam::sequence ballot = {}) const;

    /// Only the last listing is kept. The page after any other one searches all keys again.
    void keep(unfinished_listing listing) const;
    [[nodiscard]] std::optional<std::set<std::string>> take_records(seam::inspect const& of) const;

private:
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::hello what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::submit what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::settle what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::renew what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::convert what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::adjust what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::read what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::swap what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::watch what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::unwatch what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::inspect what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::evict what) const;

    [[nodiscard]] std::unique_ptr<exchange> set_watch(seam::cell_key const& key, bool on) const;
    void append_queueing(command& to, seam::claim const& wanted, bool queue) const;
    /// What the record of a claim has behind its times.
    [[nodiscard]] std::string tail_of(seam::claim const& wanted) const;
    /// Counts one; what to log of it, mostly nothing.
    [[nodiscard]] std::string refuse_unproven() const;

    key_space keys_;
    std::string client_;  ///< the client's id in hexadecimal digits
    std::string label_;
    std::string host_and_pid_;  ///< as they stand in an info
    seam::client_id id_;
    claim_secrets secrets_;
    std::shared_ptr<slot_map const> slots_;
    mutable std::atomic<std::uint64_t> unproven_{0};  ///< grants that were told without a proof

    mutable base::mutex listing_mutex_;
    mutable unfinished_listing listing_ HOLDFAST_GUARDED_BY(listing_mutex_);
};

/// Texts one after the other, each with its length before it.
void append_netstring(std::string& to, std::string_view text);
/// The next one, taken away from `from`. Throws `garbled`.
[[nodiscard]] std::string_view take_netstring(std::string_view& from);

/// Lists names: finds their records, asks for each, and sorts.
[[nodiscard]] std::unique_ptr<exchange> list(native_layout const& in, seam::inspect what);

}  // namespace holdfast::stores::redis
