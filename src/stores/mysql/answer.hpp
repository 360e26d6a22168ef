// What the server answered to one packet.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "stores/compare/driver.hpp"

namespace holdfast::stores::mysql {

using cell = std::optional<std::string>;

/// Thrown by whoever reads an answer that has not the shape of what was asked: the connection is ended for it, and the
/// exchange is answered as lost.
struct odd_answer {};

/// Thread-safety: as that of a vector.
class row {
public:
    [[nodiscard]] cell const& operator[](std::size_t column) const {
        if (column >= cells_.size()) throw odd_answer{};
        return cells_[column];
    }
    template <class... Value>
    void emplace_back(Value&&... value) {
        cells_.emplace_back(std::forward<Value>(value)...);
    }

private:
    std::vector<cell> cells_;
};

[[nodiscard]] inline std::uint64_t number_in(cell const& from) {
    return from ? base::parse_number(*from).value_or(0) : 0;
}
/// Where there is always one.
[[nodiscard]] inline std::string const& text_in(cell const& from) {
    if (!from) throw odd_answer{};
    return *from;
}

struct answer {
    std::vector<std::vector<row>> results;  ///< of the statements that have rows, in order
    unsigned error{0};    ///< the first statement that failed; nothing behind it was carried out
    std::string words{};  ///< of that error
    /// What failed stands before the packet's first COMMIT, or is its first statement where there is none: nothing has
    /// happened.
    bool undone{false};
    std::optional<base::error> lost{};  ///< no answer came
    bool sent{true};                    ///< what was lost had been sent, at least in part
    seam::clock_id clock{};             ///< whose times they are
    base::instant connected{};  ///< since when the connection lasts, and with it the server's life

    [[nodiscard]] std::vector<row> const& rows(std::size_t result) const {
        if (result >= results.size()) throw odd_answer{};
        return results[result];
    }
    [[nodiscard]] row const& first(std::size_t result = 0) const {
        auto const& found = rows(result);
        if (found.empty()) throw odd_answer{};
        return found.front();
    }
};

/// Statements that leave in one packet, with marks in them. `done` is called once; a second time, with an answer that was
/// lost, when it throws odd_answer: it reads everything before it does anything.
struct exchange {
    std::string text;
    std::function<void(answer)> done;
};

}  // namespace holdfast::stores::mysql
