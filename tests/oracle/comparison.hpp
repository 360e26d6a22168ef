// Replies and notices as text that is the same when they mean the same.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "seam/notice.hpp"

namespace holdfast::oracle {

/// Ballots are not drawn by the store, and are the same everywhere: above all that any store draws.
inline constexpr std::uint64_t ballots_from = 1ULL << 51;

/// A store draws sequences of its own: each that is seen for the first time gets the next name.
class sequence_names {
public:
    [[nodiscard]] std::string of(std::uint64_t number) {
        if (number == 0) return "none";
        if (number >= ballots_from) return "ballot " + std::to_string(number - ballots_from);
        auto const [found, fresh] = names_.try_emplace(number, names_.size() + 1);
        if (fresh && number < highest_) return "one that does not rise";
        if (fresh) highest_ = number;
        return "#" + std::to_string(found->second);
    }

private:
    std::map<std::uint64_t, std::size_t> names_;
    std::uint64_t highest_{0};
};

[[nodiscard]] std::string describe(seam::request const& what);
/// Without times, where they are not `timed`.
[[nodiscard]] std::string describe(seam::reply_body const& body, sequence_names& names,
                                   bool timed = true);
[[nodiscard]] std::string describe(seam::notice const& what, sequence_names& names);

}  // namespace holdfast::oracle
