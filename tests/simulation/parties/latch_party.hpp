// Those at a latch: one who counts down until nothing is left, and those who only wait.
#pragma once

#include "core/latch.hpp"
#include "simulation/party.hpp"

namespace holdfast::simulation {

/// Goes from latch to latch: `latch/0`, `latch/1`, … At most one of a client counts; it also resets the latch at times,
/// open or not.
class latch_party final : public party {
public:
    latch_party(world& where, client& home, bool counts);

    void start() override;
    void retire() override;
    [[nodiscard]] bool at_rest() const override { return errand_ == nullptr && resting_; }
    [[nodiscard]] std::optional<moment> stuck_since() const override;
    [[nodiscard]] std::string text() const override;
    [[nodiscard]] std::string const& name() const noexcept { return terms_->name; }

private:
    void enter(std::uint64_t round);
    void go_on();
    [[nodiscard]] bool is_hopeless() const;
    void count();
    void reset();
    void wait();
    void run(core::task_call::body what, base::instant deadline,
             std::function<void(errand::end const&)> then);

    bool const counts_;
    std::uint64_t round_{0};
    std::uint64_t turn_{0};  ///< rises with every errand
    core::latch_terms_ptr terms_;
    std::unique_ptr<errand> errand_;
    seam::claim_id after_{};
    std::uint32_t n_{0};
    std::uint32_t left_{0};
    bool finished_{false};
    bool waits_{false};
    bool resting_{false};
    moment since_{0};
};

}  // namespace holdfast::simulation
