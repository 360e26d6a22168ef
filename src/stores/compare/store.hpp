// A store that compares: the rules over a working copy, committed by comparison.
#pragma once

#include <functional>
#include <memory>

#include "seam/store.hpp"
#include "stores/compare/driver.hpp"

namespace holdfast::stores::compare {

/// Makes the driver that tells what happens to `events`, which outlives it.
using driver_maker = std::function<std::unique_ptr<driver>(driver_events& events)>;

/// The store over such a driver. It keeps the context's sink and log.
[[nodiscard]] std::unique_ptr<seam::store> make_store(seam::store_context context,
                                                      driver_maker const& make);

}  // namespace holdfast::stores::compare
