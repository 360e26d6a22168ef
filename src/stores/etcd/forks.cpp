#include "stores/etcd/forks.hpp"

#include <atomic>

#include <pthread.h>

namespace holdfast::stores::etcd {

namespace {
std::atomic<bool> forked{false};
}

void note_use_of_grpc() {
    static int const installed = ::pthread_atfork(nullptr, nullptr, [] { forked = true; });
    (void)installed;
}

bool grpc_was_forked() noexcept { return forked; }

}  // namespace holdfast::stores::etcd
