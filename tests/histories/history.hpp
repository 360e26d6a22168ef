// history: everything that happened in a run.
#pragma once

#include <filesystem>
#include <vector>

#include "histories/event.hpp"
#include "histories/plan.hpp"

namespace holdfast::histories {

struct history {
    histories::plan plan{};
    std::vector<event> events{};  ///< in the order of `before`

    /// From the time of the first event on.
    [[nodiscard]] instant origin() const { return events.empty() ? 0 : events.front().before; }
    void sort();
};

/// The directory of a run: a journal for each process that took part, a register for each name.
class archive {
public:
    explicit archive(std::filesystem::path directory);

    [[nodiscard]] std::filesystem::path journal_of(int worker, int incarnation) const;
    [[nodiscard]] std::filesystem::path register_of(std::string_view name) const;
    [[nodiscard]] std::filesystem::path const& directory() const noexcept { return directory_; }

    [[nodiscard]] history read(plan const& plan) const;

private:
    std::filesystem::path directory_;
};

}  // namespace holdfast::histories
