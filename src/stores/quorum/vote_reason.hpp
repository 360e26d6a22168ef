// Why a claim has no majority.
#pragma once

#include "stores/quorum/rounds.hpp"

namespace holdfast::stores::quorum {

/// A refusal, or the failure that too few members could be asked.
[[nodiscard]] seam::reply_body reason_without_majority(round const& in, rounds const& asked);

}  // namespace holdfast::stores::quorum
