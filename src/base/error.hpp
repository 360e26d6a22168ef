// An error as a value: a code to react to and words for people.
#pragma once

#include <string>
#include <system_error>
#include <utility>

#include <holdfast/error.hpp>

namespace holdfast::base {

struct error {
    std::error_code code{};
    std::string text{};

    error() = default;
    explicit error(errc why) : code{make_error_code(why)} {}
    error(errc why, std::string words) : code{make_error_code(why)}, text{std::move(words)} {}

    explicit operator bool() const noexcept { return static_cast<bool>(code); }

    [[nodiscard]] bool is(errc why) const noexcept { return code == make_error_code(why); }

    /// Its what() is the text, if any, and the words of the code behind it.
    [[nodiscard]] std::system_error as_exception() const {
        return text.empty() ? std::system_error{code} : std::system_error{code, text};
    }

    [[noreturn]] void raise() const { throw as_exception(); }
};

[[noreturn]] inline void raise(errc why, std::string words) {
    error{why, std::move(words)}.raise();
}

}  // namespace holdfast::base
