// What a member of the cluster or its network reports, turned into an error that names the cure.
#pragma once

#include <string>

#include <grpcpp/support/status.h>

#include "base/error.hpp"
#include "stores/etcd/settings.hpp"

namespace holdfast::stores::etcd {

/// How a call ended that has no answer.
struct fault {
    base::error error{};
    bool certain{false};      ///< it was not carried out, and will not be
    bool disconnects{false};  ///< another member, or a fresh connection, is worth a try
    bool stale_token{false};  ///< to be sent again with a fresh token

    explicit operator bool() const noexcept { return static_cast<bool>(error); }
};

/// `member` is where the call went. Only what etcd itself refused before it did anything is certain.
[[nodiscard]] fault judge(grpc::Status const& status, std::string const& member,
                          settings const& of);

/// The call was never given to the network.
[[nodiscard]] fault not_sent(base::error why);

/// What came is nothing that etcd says; whether the call was carried out is unknown.
[[nodiscard]] fault strange_answer();

/// In the child of a process that used gRPC.
[[nodiscard]] base::error forked_error();

}  // namespace holdfast::stores::etcd
