// Options that several commands share in form.
#pragma once

#include <chrono>
#include <concepts>
#include <optional>
#include <string>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "duration.hpp"
#include "exit_status.hpp"

namespace holdfast::cli {

/// "--wait" of "-w,--wait".
[[nodiscard]] inline std::string long_name(std::string const& name) {
    return name.substr(name.rfind(',') + 1);
}

/// The duration that is the value of the option `name`.
[[nodiscard]] inline std::chrono::milliseconds duration(std::string const& name,
                                                        std::string const& text) {
    try {
        return require_duration(text);
    } catch (usage_error const& error) {
        throw usage_error{fmt::format("{}: {}", long_name(name), error.what())};
    }
}

/// An option whose value is a duration; `target` is a duration or an optional one.
template <class Target>
CLI::Option* add_duration(CLI::App& app, std::string const& name, Target& target,
                          std::string const& help) {
    auto const set = [&target, name](std::string const& text) { target = duration(name, text); };
    return app.add_option_function<std::string>(name, set, help)->type_name("DUR");
}

/// The whole number from `least` to `most` that is the value of the option `name`.
template <std::integral Number>
[[nodiscard]] Number whole_number(std::string const& name, std::string const& text, Number least,
                                  Number most) {
    bool const digits = !text.empty() && text.size() < 10 &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    auto const value = digits ? std::stoll(text) : -1;
    if (value < static_cast<long long>(least) || value > static_cast<long long>(most))
        throw usage_error{fmt::format("{}: '{}' is not a whole number from {} to {}",
                                      long_name(name), text, least, most)};
    return static_cast<Number>(value);
}

/// An option whose value is a whole number; `target` is a number or an optional one.
template <std::integral Number, class Target>
CLI::Option* add_number(CLI::App& app, std::string const& name, Target& target, Number least,
                        Number most, std::string const& help) {
    auto const set = [&target, name, least, most](std::string const& text) {
        target = whole_number(name, text, least, most);
    };
    return app.add_option_function<std::string>(name, set, help)->type_name("N");
}

/// An option that may stand without a value: `target` is then the empty text.
inline CLI::Option* add_optional_value(CLI::App& app, std::string const& name,
                                       std::optional<std::string>& target,
                                       std::string const& help) {
    auto const set = [&target](std::string const& text) { target = text; };
    return app.add_option_function<std::string>(name, set, help)->expected(0, 1);
}

}  // namespace holdfast::cli
