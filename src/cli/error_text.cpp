#include "error_text.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <holdfast/error.hpp>

#include "home.hpp"

namespace holdfast::cli {

namespace {

// A program under a hold is given the store without its password.
bool lacks_credentials(std::error_code const& code, std::string const& text) {
    return code == make_error_code(errc::access_denied) &&
           text.find("wants a password") != std::string::npos &&
           !environment("HOLDFAST_TOKEN").empty();
}

// The library names its own options, of which the command has some.
std::string with_option_of_command(std::string text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> options{
        {{"lease ", "--lease "},
         {"grace ", "--grace "},
         {"min_hold ", "--min-hold "},
         {"max_hold ", "--max-hold "}}};
    for (auto const& [theirs, ours] : options)
        if (text.starts_with(theirs)) text.replace(0, theirs.size(), ours);
    return text;
}

}  // namespace

std::string text_of(std::system_error const& error) {
    std::string out = error.what();
    if (error.code().category() != error_category()) return out;
    auto const tail = ": " + error.code().message();
    if (out.ends_with(tail)) out.erase(out.size() - tail.size());
    if (error.code() == make_error_code(errc::bad_option)) out = with_option_of_command(out);
    if (lacks_credentials(error.code(), out))
        out +=
            "; 'holdfast run' keeps it from the program that it runs: give the store a name in "
            "the configuration, or run with --pass-credentials";
    return out;
}

}  // namespace holdfast::cli
