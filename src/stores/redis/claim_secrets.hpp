// What proves that a message about a grant comes from the scripts: whoever may publish on a channel can
// say anything there.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "seam/claim.hpp"

namespace holdfast::stores::redis {

/// The secrets of one client's claims. The secret of a claim is a keyed hash of its id, so that none has
/// to be remembered; only the server is told it. A script that grants the claim publishes a hash of the
/// terms of the grant and the secret: it proves these terms and no others, and does not tell the secret.
///
/// Thread-safety: all members may be called from any thread at once.
class claim_secrets {
public:
    static constexpr std::size_t size = 16;
    using secret = std::array<char, size>;

    /// With a key that nobody else knows. Throws std::system_error.
    claim_secrets();
    /// With a known key, for tests.
    constexpr claim_secrets(std::uint64_t first, std::uint64_t second) noexcept
        : key_{first, second} {}

    /// SipHash-2-4 with 128 bits, of the sixteen bytes of the id.
    [[nodiscard]] secret of(seam::claim_id id) const noexcept;

    /// Whether `proof` is that of `terms` for the claim.
    [[nodiscard]] bool is_proven(seam::claim_id id, std::string_view terms,
                                 std::string_view proof) const noexcept;

private:
    std::array<std::uint64_t, 2> key_;
};

}  // namespace holdfast::stores::redis
