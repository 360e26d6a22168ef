// One statement with its parameters, as it is sent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seam/claim.hpp"

namespace holdfast::stores::postgres {

/// The text of a statement. Where the server is reached directly it is prepared under its name, once for
/// each connection: planning takes five times as long as carrying it out.
struct statement_text {
    std::string name;
    std::string words;
};

/// A value behind $1, $2 and so on. Bytes are sent as they are, all else as words.
struct parameter {
    std::optional<std::string> value;  ///< nothing: NULL
    bool binary{false};
};

/// Thread-safety: none. Lifetime: the text outlives it.
class statement {
public:
    explicit statement(statement_text const& text) : text_{&text} {}

    statement& number(std::int64_t value) { return add({std::to_string(value), false}); }
    template <class Enum>
    requires std::is_enum_v<Enum> statement& number(Enum value) {
        return number(static_cast<std::int64_t>(value));
    }
    statement& null() { return add({std::nullopt, false}); }
    statement& flag(bool value) { return add({value ? "t" : "f", false}); }
    statement& words(std::string value) { return add({std::move(value), false}); }
    statement& bytes(std::string value) { return add({std::move(value), true}); }

    /// The words of an array, of what `element` makes of each.
    template <class Range, class Element>
    statement& array(Range const& values, Element element) {
        std::string out{'{'};
        for (auto const& each : values) {
            if (out.size() > 1) out += ',';
            out += element(each);
        }
        return words(out + '}');
    }

    /// It belongs to the same transaction as the one behind it.
    statement& joined() {
        ends_ = false;
        return *this;
    }

    [[nodiscard]] statement_text const& text() const noexcept { return *text_; }
    [[nodiscard]] std::vector<parameter> const& parameters() const noexcept { return parameters_; }
    [[nodiscard]] bool ends() const noexcept { return ends_; }

private:
    statement& add(parameter value) {
        parameters_.push_back(std::move(value));
        return *this;
    }

    statement_text const* text_;
    std::vector<parameter> parameters_;
    bool ends_{true};  ///< its transaction ends with it
};

/// Elements of arrays.
[[nodiscard]] inline std::string number_element(std::uint64_t value) {
    return std::to_string(static_cast<std::int64_t>(value));
}
[[nodiscard]] inline std::string claim_element(seam::claim_id id) {
    return base::hex(static_cast<std::uint64_t>(id.client)) + base::hex(id.number);
}
[[nodiscard]] std::string bytes_element(std::string_view bytes);

}  // namespace holdfast::stores::postgres
