// A context: one store, set up for one test, with its faults at hand.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/holdfast.hpp>

namespace holdfast::conformance {

/// What a store can do, beyond what every store must.
struct abilities {
    bool processes{false};  ///< clients of several processes meet in it; `kill_holder` works
    bool outage{false};     ///< it can fall silent; `silence` and `restore` work
};

/// A fresh store that no other test uses. What a store cannot do throws `errc::unsupported`.
class context {
public:
    virtual ~context() = default;

    [[nodiscard]] virtual std::string url() const = 0;
    [[nodiscard]] virtual abilities can() const = 0;

    /// From now on the store answers no request that would change something.
    virtual void silence();
    /// Ends a silence.
    virtual void restore();

    /// Forgets all that the store knows, as a new installation would. Nobody may be connected.
    virtual void begin_anew() = 0;

    /// Has another process hold `name` with a lease of `lease`, and kills it with SIGKILL. Returns
    /// the token that it had.
    std::uint64_t kill_holder(std::string_view name, std::chrono::milliseconds lease) const;
};

/// A store as a parameter of tests.
struct store_entry {
    std::string name;  ///< as the build calls it
    std::function<std::unique_ptr<context>()> make;
};

std::ostream& operator<<(std::ostream& out, store_entry const& entry);

/// All stores that have a context in this program.
[[nodiscard]] std::vector<store_entry> const& stores();

/// Each context's source has one of static storage duration.
struct registration {
    registration(std::string name, std::function<std::unique_ptr<context>()> make);
};

}  // namespace holdfast::conformance
