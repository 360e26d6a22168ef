// client: one connection of a process to one store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/detail/access.hpp>
#include <holdfast/export.hpp>
#include <holdfast/info.hpp>
#include <holdfast/options.hpp>

namespace holdfast {
inline namespace v1 {

namespace detail {
class session;  // the shared state behind a client
}

/// Which claims `client::evict` frees.
struct evict_options {
    std::string claim{};  ///< only the claim with this id (`claim_info::id`); empty for all holders
    bool force{false};    ///< also what clients other than holdfast hold
};

/// A handle to one store, named by its URL. Make one per process and store.
///
/// Thread-safety: every member may be called from any thread at once.
/// Ownership: a cheap shared handle; synchronizers and leases co-own what is behind it.
/// Construction parses the URL and loads the store's module, but does not talk to the store.
/// After fork() the child's operations throw `errc::closed` and its destructors do nothing.
class HOLDFAST_EXPORT client {
public:
    /// Throws `bad_url` for a URL that cannot be understood, `unsupported` for a store that is not
    /// part of this build, `bad_option` for options out of range.
    explicit client(std::string_view url, client_options options = {});

    /// One round trip to the store; throws `store_unavailable` or the store's own error.
    void ping();

    /// What is held and waited for under names that begin with `prefix`, in order of names.
    [[nodiscard]] std::vector<lock_info> locks(std::string_view prefix = "");

    /// Frees what others hold of `name` and returns how many claims were ended. Their holders learn
    /// that they lost it. Asked of the store once, since whoever came next would be ended by a second
    /// time: `store_unavailable` leaves open whether anybody was (`locks` tells). For one claim it is asked
    /// again where no answer comes, and 0 may mean that the first time has ended it.
    std::size_t evict(std::string_view name, evict_options options = {});

    /// A snapshot of this client's counters by name.
    [[nodiscard]] std::map<std::string, std::uint64_t> metrics() const;

    /// Releases everything, ends every wait with `errc::closed`, and joins the client's threads.
    /// Bounded by the client's patience, and by the user's own callbacks, which it lets end. Called by
    /// the destruction of the last co-owner.
    void close();

    /// The store's URL without its password.
    [[nodiscard]] std::string url() const;

private:
    friend struct detail::access;
    [[nodiscard]] std::shared_ptr<detail::session> const& shared_state() const noexcept;

    std::shared_ptr<detail::session> session_;
};

/// What has to be in the store of this URL, in its own language (SQL), for those whose user may not make it: a
/// client makes it by itself where it may. Empty for a store that needs nothing. Does not talk to the store.
/// Throws as the constructor of `client` does.
[[nodiscard]] HOLDFAST_EXPORT std::string store_schema(std::string_view url);

}  // namespace v1
}  // namespace holdfast
