// Who a client says it is.
#pragma once

#include <string>

#include "base/url.hpp"

namespace holdfast::stores::compare {

struct login {
    std::string user;
    std::string password;
};

/// Of a URL for a store that knows only users with passwords, or none at all. A password that the URL lacks comes from the file
/// that the option 'passwordfile' names, else from this variable of the environment. Throws errc::bad_url when there is one
/// without the other.
[[nodiscard]] login find_login(base::url const& url, char const* variable);

}  // namespace holdfast::stores::compare
