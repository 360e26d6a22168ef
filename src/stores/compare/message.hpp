// What clients of one store write to each other: the bodies of letters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stores/compare/head.hpp"

namespace holdfast::stores::compare {

/// The claim holds from the letter's step on.
struct granted_message {
    seam::claim_id id{};
    std::uint64_t secret{0};
    seam::sequence number{};  ///< symbolic until the letter's stamp is known
    bool contended{false};
    /// The name as the step left it, so that its new holder need not ask; without a head when that was
    /// too long for the letter.
    view after{};
};

struct gone_message {
    seam::claim_id id{};
    std::uint64_t secret{0};
    std::string why;
};

/// Somebody began to wait behind this held claim.
struct contended_message {
    seam::claim_id id{};
    std::uint64_t secret{0};
};

/// Look at the name again.
struct changed_message {
    seam::cell_key key;
};

using message = std::variant<granted_message, gone_message, contended_message, changed_message>;

/// At most `limit` bytes where something can be left out. Messages can follow each other in one letter.
[[nodiscard]] std::string write_message(message const& what, std::size_t limit);

/// All messages of a letter; `written` is its stamp. Throws when it cannot be read.
[[nodiscard]] std::vector<message> read_messages(std::string_view body, stamp written);

}  // namespace holdfast::stores::compare
