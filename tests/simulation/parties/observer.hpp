// One who wants to know who leads an election.
#pragma once

#include "simulation/party.hpp"

namespace holdfast::simulation {

/// Observes to the end of the run, and is at rest all the while: it wants nothing.
class observer final : public party {
public:
    observer(world& where, client& home, std::string name, std::uint64_t number);

    void start() override;
    [[nodiscard]] bool at_rest() const override { return true; }
    [[nodiscard]] std::string text() const override;

private:
    std::string const name_;
    std::uint64_t const number_;
    std::unique_ptr<errand> errand_;
};

}  // namespace holdfast::simulation
