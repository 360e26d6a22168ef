// What a call throws, as a value that a test can compare.
#pragma once

#include <ostream>
#include <string>
#include <system_error>
#include <utility>

#include <holdfast/error.hpp>

namespace holdfast {
inline namespace v1 {

/// For GoogleTest's messages.
inline void PrintTo(errc code, std::ostream* out) { *out << make_error_code(code); }

}  // namespace v1

namespace support {

/// The code of the std::system_error that `call` throws; empty when it throws none.
template <class Call>
[[nodiscard]] std::error_code failure_of(Call&& call) {
    try {
        static_cast<void>(std::forward<Call>(call)());
    } catch (std::system_error const& error) {
        return error.code();
    }
    return {};
}

/// The text of the std::system_error that `call` throws; empty when it throws none.
template <class Call>
[[nodiscard]] std::string words_of(Call&& call) {
    try {
        static_cast<void>(std::forward<Call>(call)());
    } catch (std::system_error const& error) {
        return error.what();
    }
    return {};
}

}  // namespace support
}  // namespace holdfast
