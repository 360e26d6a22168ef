// A variant of the product: as it is, or with one deliberate fault.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/judgement.hpp"
#include "seam/request.hpp"

namespace holdfast::simulation {

class witness;

struct variant {
    std::string name{"the product"};
    std::shared_ptr<core::judgement const> judge{};
    /// Changes a request on its way into the store, as a faulty store would understand it.
    std::function<void(witness const&, seam::store_time, seam::request&)> tamper{};
};

}  // namespace holdfast::simulation
