#include "stores/compare/login.hpp"

#include <cstdlib>

#include "base/error.hpp"

namespace holdfast::stores::compare {

login find_login(base::url const& url, char const* variable) {
    login out{.user = url.user, .password = url.password_or_file()};
    if (auto const* const value = std::getenv(variable);
        value != nullptr && !out.user.empty() && out.password.empty())
        out.password = value;
    if (out.user.empty() != out.password.empty())
        base::raise(errc::bad_url,
                    std::string{"the store URL has a "} +
                        (out.user.empty() ? "password but no user" : "user but no password") +
                        "; give both as user:password@host, or the password by the option "
                        "'passwordfile' or in the environment as " +
                        variable);
    return out;
}

}  // namespace holdfast::stores::compare
