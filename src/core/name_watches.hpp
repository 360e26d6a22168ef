// The watches of those who wait for a name at a store without a line.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace holdfast::core {

/// A store without a line tells nobody that it is his turn; it may tell those who watch a name that it
/// has changed. One watch for each name, from its first waiter to its last. Whoever finds the name free has not waited,
/// and watches nothing.
///
/// Thread-safety: none; it belongs to the engine.
class name_watches {
public:
    /// One more claim waits for the name. True when the store must be asked to watch it.
    [[nodiscard]] bool add(std::string const& name) {
        auto& found = watches_[name];
        ++found.claims;
        return ask(found);
    }

    /// A new claim takes part in the watch, where there is one.
    [[nodiscard]] bool join(std::string const& name) {
        if (watches_.empty()) return false;
        auto const found = watches_.find(name);
        if (found == watches_.end()) return false;
        ++found->second.claims;
        return true;
    }

    /// A claim waits no more. `more_to_come`: others of this client are about to wait for the same name.
    /// True when the store must be asked to end the watch.
    [[nodiscard]] bool remove(std::string const& name, bool more_to_come) {
        auto const found = watches_.find(name);
        if (found == watches_.end() || --found->second.claims > 0 || more_to_come) return false;
        bool const at_store = found->second.at_store;
        watches_.erase(found);
        return at_store;
    }

    /// Whether the store may have it.
    [[nodiscard]] bool has(std::string const& name) const {
        auto const found = watches_.find(name);
        return found != watches_.end() && found->second.at_store;
    }

    /// The connection may have been lost, and the watches with it: whoever tries next asks again. Where they are still
    /// there they have to be ended.
    void on_disconnection() noexcept {
        for (auto& [name, known] : watches_)
            known.asked = false;
    }
    /// Whether the store must be asked again to watch a name on which a claim waits already.
    [[nodiscard]] bool ask_again(std::string const& name) {
        auto const found = watches_.find(name);
        return found != watches_.end() && ask(found->second);
    }

    [[nodiscard]] std::size_t size() const noexcept { return watches_.size(); }

private:
    struct watch {
        int claims{0};
        bool asked{false};     ///< since the last disconnection
        bool at_store{false};  ///< asked at any time
    };

    [[nodiscard]] static bool ask(watch& which) noexcept {
        which.at_store = true;
        return !std::exchange(which.asked, true);
    }

    boost::unordered_flat_map<std::string, watch> watches_;
};

}  // namespace holdfast::core
