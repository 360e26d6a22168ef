#include <holdfast/client.hpp>
#include <holdfast/detail/presence.hpp>

#include "api/session.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

int share_presence(client const& whose) {
    auto& session = *detail::access::state(whose);
    session.require_usable();
    return session.loop().presence().release();
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
