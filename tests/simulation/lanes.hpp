// The servers that the simulated store consists of, each with a clock of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "core/judgement.hpp"
#include "seam/notice.hpp"
#include "simulation/profile.hpp"

namespace holdfast::simulation {

/// The store, the witness and the checkers have one time. Clients see it through a lane: shifted by what
/// the clock of the lane's server differs by.
class lanes {
public:
    using source = core::clock_source;

    /// `earliest` is what the store's clock shows at first: no lane's clock goes below zero.
    lanes(profile const& plan, std::uint64_t seed, seam::store_time earliest);

    [[nodiscard]] bool several() const noexcept { return lanes_.size() > 1; }
    [[nodiscard]] std::size_t count() const noexcept { return lanes_.size(); }
    [[nodiscard]] seam::lane_id lane_of(std::string_view name) const noexcept;
    [[nodiscard]] seam::lane_id lane_of(seam::request const& what) const;
    /// The lane with the clock that it has at present.
    [[nodiscard]] source present(seam::lane_id lane) const noexcept;
    /// The same clock still stands behind the lane.
    [[nodiscard]] bool stands(source const& since) const noexcept {
        return present(since.lane).clock == since.clock;
    }
    /// Whether the request was made for the clock that its lane has; it is not sent otherwise.
    [[nodiscard]] bool fits(seam::request const& what) const;

    /// Another server comes to stand behind the lane, with what the one before had.
    void change(seam::lane_id lane, std::optional<std::chrono::microseconds> ahead = {});

    /// From a client's times to the store's, and the other way.
    void shift_in(seam::request& what) const;
    void shift_out(seam::reply& answer, seam::lane_id lane) const;
    void shift_out(seam::notice& what, seam::lane_id lane) const;

private:
    struct lane {
        seam::clock_id clock{};
        std::chrono::microseconds ahead{0};
    };

    [[nodiscard]] std::chrono::microseconds draw_offset();
    [[nodiscard]] lane const& at(seam::lane_id which) const noexcept;

    seam::store_time const earliest_;
    base::random random_;
    std::vector<lane> lanes_;
};

}  // namespace holdfast::simulation
