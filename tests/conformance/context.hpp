// A row: one store, reached in one way. Its context sets it up for one test, with its faults at hand.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "conformance/ability.hpp"

namespace holdfast::conformance {

/// A fresh store that no other test uses. What a store cannot do throws `errc::unsupported`.
class context {
public:
    virtual ~context() = default;

    [[nodiscard]] virtual std::string url() const = 0;
    /// The URL with one more option, such as "lease=2s".
    [[nodiscard]] std::string url_with(std::string_view option) const;

    /// From now on the store answers no request that would change something.
    virtual void silence();
    /// Ends a silence.
    virtual void restore();

    /// Forgets all that the store knows, as a new installation would. Nobody may be connected.
    virtual void begin_anew() = 0;

    /// Has another process hold `name` with a lease of `lease`, and kills it with SIGKILL. Returns
    /// the token that it had. For rows with `ability::processes`.
    std::uint64_t kill_holder(std::string_view name, std::chrono::milliseconds lease) const;
};

/// The lengths of a lease that a row takes; others are `errc::bad_option`.
struct lease_bounds {
    std::chrono::milliseconds shortest{20};
    std::chrono::milliseconds longest{std::chrono::hours{24 * 365}};
};

/// A row as a parameter of tests. Known without starting anything.
struct store_row {
    std::string name;   ///< also that of its ctest entries
    std::string store;  ///< as the build calls it
    abilities lacks{};  ///< what it cannot do
    lease_bounds leases{};
    std::function<std::unique_ptr<context>()> make;

    [[nodiscard]] bool can(ability what) const { return !lacks.contains(what); }
    [[nodiscard]] bool can_all(abilities const& what) const;
};

std::ostream& operator<<(std::ostream& out, store_row const& row);

/// All rows that have a context in this program.
[[nodiscard]] std::vector<store_row> const& rows();
/// Those of them that have all of `needs`.
[[nodiscard]] std::vector<store_row> rows_with(abilities const& needs);

/// Each row has one of static storage duration, in the source of its context.
struct registration {
    explicit registration(store_row row);
};

}  // namespace holdfast::conformance
