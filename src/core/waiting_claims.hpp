// Which claims of this client want a name and do not have it: found by the name's hash.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

namespace holdfast::core {

/// So that a notice about one name does not look at a hundred thousand claims of others.
///
/// Thread-safety: none; it belongs to the engine.
class waiting_claims {
public:
    void add(std::size_t name_hash, std::uint64_t claim) { by_name_[name_hash].push_back(claim); }

    void remove(std::size_t name_hash, std::uint64_t claim) {
        auto const found = by_name_.find(name_hash);
        if (found == by_name_.end()) return;
        auto& claims = found->second;
        claims.erase(std::remove(claims.begin(), claims.end(), claim), claims.end());
        if (claims.empty()) by_name_.erase(found);
    }

    /// In the order in which they came; perhaps some of another name with the same hash.
    [[nodiscard]] std::vector<std::uint64_t> find(std::size_t name_hash) const {
        auto const found = by_name_.find(name_hash);
        if (found == by_name_.end()) return {};
        std::vector<std::uint64_t> out{found->second.begin(), found->second.end()};
        std::ranges::sort(out);
        return out;
    }

private:
    boost::unordered_flat_map<std::size_t, boost::container::small_vector<std::uint64_t, 1>>
        by_name_;
};

}  // namespace holdfast::core
