// Options that several commands share in form.
#pragma once

#include <chrono>
#include <concepts>
#include <string>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "duration.hpp"
#include "exit_status.hpp"

namespace holdfast::cli {

/// An option whose value is a duration; `target` is a duration or an optional one.
template <class Target>
CLI::Option* add_duration(CLI::App& app, std::string const& name, Target& target,
                          std::string const& help) {
    auto const set = [&target, name](std::string const& text) {
        try {
            target = parse_duration(text);
        } catch (usage_error const& error) {
            throw usage_error{fmt::format("{}: {}", name, error.what())};
        }
    };
    return app.add_option_function<std::string>(name, set, help)->type_name("DUR");
}

/// An option whose value is a whole number from `least` to `most`.
template <std::integral Number>
CLI::Option* add_number(CLI::App& app, std::string const& name, Number& target, Number least,
                        Number most, std::string const& help) {
    auto const set = [&target, name, least, most](std::string const& text) {
        bool const digits = !text.empty() && text.size() < 10 &&
                            text.find_first_not_of("0123456789") == std::string::npos;
        auto const value = digits ? std::stoll(text) : -1;
        if (value < static_cast<long long>(least) || value > static_cast<long long>(most))
            throw usage_error{fmt::format("{}: '{}' is not a whole number from {} to {}", name,
                                          text, least, most)};
        target = static_cast<Number>(value);
    };
    return app.add_option_function<std::string>(name, set, help)->type_name("N");
}

}  // namespace holdfast::cli
