// One who wants several names at once.
#pragma once

#include "simulation/party.hpp"

namespace holdfast::simulation {

class collector final : public party {
public:
    /// Its claims carry this label, and no others do.
    collector(world& where, client& home, std::size_t number);

    void start() override;
    void vanish() override;
    void on_lost(local_hold const&) override;
    [[nodiscard]] bool at_rest() const override {
        return errand_ == nullptr && holds_.empty() && over();
    }
    [[nodiscard]] std::string text() const override { return label_; }

private:
    void go_on();
    [[nodiscard]] std::vector<std::shared_ptr<core::wait_queue>> draw_lines();
    [[nodiscard]] core::task_call::body script_for(
        std::vector<std::shared_ptr<core::wait_queue>> lines, bool wait);
    void take_up();
    void let_go();

    std::string const label_;
    std::vector<core::terms_ptr> terms_;
    std::unique_ptr<errand> errand_;
    std::vector<std::shared_ptr<core::hold_state>> got_;
    std::vector<std::shared_ptr<local_hold>> holds_;
    std::size_t wanted_{0};
    std::uint64_t turn_{0};
};

}  // namespace holdfast::simulation
