// Text that is nearly always empty: eight bytes then.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::base {

/// Reads as a `std::string const&`. For members of objects of which there are very many.
class rare_text {
public:
    rare_text() noexcept = default;
    rare_text(std::string_view text)  // NOLINT(google-explicit-constructor): it stands for a string
        : text_{text.empty() ? nullptr : std::make_unique<std::string>(text)} {}
    rare_text(std::string const& text) : rare_text{std::string_view{text}} {}  // NOLINT
    rare_text(char const* text) : rare_text{std::string_view{text}} {}         // NOLINT
    rare_text(rare_text const& other) : rare_text{std::string_view{other.get()}} {}
    rare_text(rare_text&&) noexcept = default;
    rare_text& operator=(rare_text other) noexcept {
        text_ = std::move(other.text_);
        return *this;
    }
    ~rare_text() = default;

    [[nodiscard]] std::string const& get() const noexcept {
        static std::string const none;
        return text_ == nullptr ? none : *text_;
    }
    operator std::string const&() const noexcept { return get(); }  // NOLINT
    [[nodiscard]] bool empty() const noexcept { return text_ == nullptr; }

    friend bool operator==(rare_text const& one, rare_text const& other) noexcept {
        return one.get() == other.get();
    }
    template <std::convertible_to<std::string_view> Text>
    friend bool operator==(rare_text const& one, Text const& other) noexcept {
        return one.get() == std::string_view{other};
    }

private:
    std::unique_ptr<std::string> text_;
};

}  // namespace holdfast::base
