// store: what a run needs to know of a store. A new one joins by a file in stores/ that registers it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "histories/random.hpp"

namespace holdfast::histories {

/// Something bad that can be done to a store, and undone.
struct fault {
    std::string name{};
    std::function<void(random&)> begin{};
    std::function<void()> end{};
    /// The store loses what it had acknowledged: exclusion is not promised across it, tokens are.
    bool forgets{false};
    /// Holds may be lost before their leases are over. Exclusion is promised.
    bool ends_holds{false};
    std::chrono::milliseconds aftermath{0};   ///< for so long after its end, too
    bool of_worker{false};                    ///< it is a worker's, and may come beside another
    std::chrono::milliseconds shortest{100};  ///< between begin and end
    std::chrono::milliseconds longest{3000};
};

/// A private store, for one run. Made and used by one thread.
class store {
public:
    virtual ~store() = default;

    /// How workers reach it. Each may have a way of its own.
    [[nodiscard]] virtual std::string url(int worker) const = 0;
    /// How whoever looks at the end reaches it, past all faults.
    [[nodiscard]] virtual std::string direct_url() const { return url(0); }

    /// Its own faults. Workers are stopped and killed besides, where it outlives them.
    [[nodiscard]] virtual std::vector<fault> faults() = 0;
    [[nodiscard]] virtual bool outlives_workers() const { return true; }

    /// Processes of a run, and clients in each.
    [[nodiscard]] virtual int workers() const { return 3; }
    [[nodiscard]] virtual int clients() const { return 1; }

    /// Whether there is nothing but locks, and no fair order.
    [[nodiscard]] virtual bool has_only_locks() const { return false; }

    /// What is left of the workers although all have gone, in words; empty when nothing is.
    [[nodiscard]] virtual std::vector<std::string> leftovers() { return {}; }
};

/// How often and how long everything is leased and waited for, for the end of a URL.
[[nodiscard]] std::string url_options(bool has_options);

/// A row: a store under a name. Made as a static object.
struct store_row {
    using maker = std::function<std::unique_ptr<store>(std::uint64_t seed)>;
    store_row(std::string name, maker make);

    /// Throws for a name that no row has.
    [[nodiscard]] static std::unique_ptr<store> make(std::string const& name, std::uint64_t seed);
    [[nodiscard]] static std::vector<std::string> names();
};

}  // namespace holdfast::histories
