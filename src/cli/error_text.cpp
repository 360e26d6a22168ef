#include "error_text.hpp"

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

}  // namespace

std::string text_of(std::system_error const& error) {
    std::string out = error.what();
    if (error.code().category() != error_category()) return out;
    auto const tail = ": " + error.code().message();
    if (out.ends_with(tail)) out.erase(out.size() - tail.size());
    if (lacks_credentials(error.code(), out))
        out +=
            "; 'holdfast run' keeps it from the program that it runs: give the store a name in "
            "the configuration, or run with --pass-credentials";
    return out;
}

}  // namespace holdfast::cli
