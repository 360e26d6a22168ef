// Whether gRPC was used by the process that forked this one.
#pragma once

namespace holdfast::stores::etcd {

/// To be called before gRPC is first used.
void note_use_of_grpc();

/// In such a child gRPC must not be touched: its threads are gone, its sockets are the parent's.
[[nodiscard]] bool grpc_was_forked() noexcept;

}  // namespace holdfast::stores::etcd
