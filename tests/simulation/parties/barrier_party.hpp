// One who arrives at a barrier again and again, and resets it where it is broken.
#pragma once

#include "core/barrier.hpp"
#include "simulation/party.hpp"

namespace holdfast::simulation {

class barrier_party final : public party {
public:
    barrier_party(world& where, client& home, std::size_t number);

    void start() override;
    void retire() override;
    [[nodiscard]] bool at_rest() const override { return errand_ == nullptr && over(); }
    [[nodiscard]] std::optional<moment> stuck_since() const override;
    [[nodiscard]] std::string text() const override;

private:
    void go_on();
    void arrive();
    void on_arrived(errand::end const& how);
    void reset();

    core::barrier_terms_ptr terms_;
    std::size_t const number_;
    bool const impatient_;
    std::unique_ptr<errand> errand_;
    std::optional<std::uint64_t> generation_;
    std::uint64_t turn_{0};
    bool arriving_{false};
    moment since_{0};
};

}  // namespace holdfast::simulation
