// A variant of the product: as it is, or with one deliberate fault.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "compare/document_server.hpp"
#include "core/judgement.hpp"
#include "seam/request.hpp"

namespace holdfast::simulation {

class odd_store;
class witness;

struct variant {
    std::string name{"the product"};
    std::shared_ptr<core::judgement const> judge{};
    /// Changes a request on its way into the store, as a faulty store would understand it.
    std::function<void(witness const&, seam::store_time, seam::request&)> tamper{};
    /// A store with rules of its own, whose sequences begin behind the number.
    std::function<std::unique_ptr<odd_store>(std::uint64_t)> store{};
    /// What a server that compares does wrong.
    driver_tests::server_flaws documents{};
    /// A client of such a store does not look at the secrets of letters.
    bool believes_letters{false};
    /// The client takes the servers of the store for one.
    bool one_lane{false};
    /// The client believes that claims end with their leases where they end with a session.
    bool believes_in_leases{false};
    /// A user of a condition who unlocks before the store has it in the line.
    bool unlocks_first{false};
    /// A lock over several names that waits for one while it holds another.
    bool holds_and_waits{false};
};

}  // namespace holdfast::simulation
