// What a server or its network reports, turned into an error that names the cure.
#pragma once

#include "base/error.hpp"
#include "stores/zookeeper/settings.hpp"

namespace holdfast::stores::zookeeper {

/// How a call ended that has no answer.
struct fault {
    base::error error{};
    bool certain{false};  ///< it was not carried out, and will not be

    explicit operator bool() const noexcept { return static_cast<bool>(error); }
};

/// `code` is the library's; `sent`: the call was given to the network.
[[nodiscard]] fault judge(int code, bool sent, settings const& of);

}  // namespace holdfast::stores::zookeeper
