// Cells: what a store says of them, and their values as text, read with suspicion.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "seam/reply.hpp"

namespace holdfast::core {

/// Reads the words of a cell's value in order; a value that is not ours throws
/// errc::store_unavailable, which names it.
class cell_reader {
public:
    cell_reader(std::string_view value, std::string_view what) : rest_{value}, what_{what} {}

    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

    std::string_view word() {
        auto const end = rest_.find(' ');
        auto const out = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
        return out;
    }
    std::uint64_t number(std::uint64_t limit = UINT64_MAX) {
        auto const out = base::parse_number(word(), limit);
        if (!out) refuse();
        return *out;
    }
    seam::claim_id id() {
        auto const out = seam::parse_claim_id(word());
        if (!out) refuse();
        return *out;
    }
    [[noreturn]] void refuse() const {
        base::raise(errc::store_unavailable,
                    "the store's value of " + std::string{what_} + " makes no sense");
    }

private:
    std::string_view rest_;
    std::string_view what_;
};

/// The cell as an answer to a read, or to a swap that was in conflict, shows it. A refusal throws
/// errc::kind_mismatch.
[[nodiscard]] inline seam::cell cell_in(seam::reply_body const& answer, std::string_view name) {
    if (auto const* const no = std::get_if<seam::refused>(&answer))
        base::raise(errc::kind_mismatch, no->text);
    if (auto const* const other = std::get_if<seam::conflict>(&answer)) return other->current;
    if (auto const* const cell = std::get_if<seam::cell>(&answer)) return *cell;
    base::raise(errc::store_unavailable,
                "the store's answer about '" + std::string{name} + "' makes no sense");
}

/// Adds one word to a value.
inline void add_word(std::string& value, std::string_view word) {
    if (!value.empty()) value += ' ';
    value += word;
}

}  // namespace holdfast::core
