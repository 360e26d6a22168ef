// A store URL taken apart: scheme:[//[user[:password]@]host[:port],…][/]path[?key=value&…]
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::base {

struct endpoint {
    std::string host;
    std::uint16_t port{0};  ///< 0 when the URL names none
};

/// The parts of a store URL, percent-decoded. Holds the password: never print a `url`, print
/// `shown()`.
class url {
public:
    /// Throws errc::bad_url with a text that says what is wrong and never repeats a password.
    [[nodiscard]] static url parse(std::string_view text);

    std::string scheme;
    bool has_authority{false};
    std::string user;
    std::string password;
    std::vector<endpoint> hosts;
    std::string path;
    std::map<std::string, std::string, std::less<>> options;

    /// The URL without its password, for people and for children's environments.
    [[nodiscard]] std::string shown() const;

    /// Throws errc::bad_url for an option that is not in `known`, naming the nearest one.
    void require_known_options(std::span<std::string_view const> known) const;

    /// The value of a duration option, or `otherwise`; errc::bad_url when it is not one.
    [[nodiscard]] std::chrono::milliseconds duration_option(
        std::string_view key, std::chrono::milliseconds otherwise) const;

    /// The value of an option, empty when it is not there; errc::bad_url when it is there and empty.
    [[nodiscard]] std::string text_option(std::string_view key) const;

    /// What is in the file that an option names, empty when the option is not there; errc::bad_url when the file cannot
    /// be read or is empty.
    [[nodiscard]] std::string file_option(std::string_view key) const;

    /// The password of the URL, or what is in the file that the option 'passwordfile' names, without its line ends;
    /// errc::bad_url when there are both.
    [[nodiscard]] std::string password_or_file() const;

    /// Whether a yes/no option (1, 0, true, false, yes, no) is set; errc::bad_url otherwise.
    [[nodiscard]] bool flag_option(std::string_view key, bool otherwise) const;
};

}  // namespace holdfast::base
