// Fork: how a client knows that it lives in the child of the process that made it.
#pragma once

#include <cstdint>

#include "seam/store.hpp"

namespace holdfast::runtime {

/// How many forks lie between this process and the first one that asked. Cheap: one load.
[[nodiscard]] std::uint64_t fork_generation() noexcept;

/// Has `abandon_in_child` called in children while it lives.
/// Thread-safety: may be made and destroyed by any thread.
class fork_watch {
public:
    explicit fork_watch(seam::store& whose);
    ~fork_watch();
    fork_watch(fork_watch const&) = delete;
    fork_watch& operator=(fork_watch const&) = delete;

private:
    seam::store& store_;
};

}  // namespace holdfast::runtime
