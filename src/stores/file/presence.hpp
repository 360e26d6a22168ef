// Shows that a client is alive: it keeps one byte of a side file locked, and the kernel lets go of it
// when the process is gone, however it went.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "base/descriptor.hpp"

namespace holdfast::stores::file {

/// The side file as one client has it open. The locks belong to the open file (F_OFD_SETLK), not to
/// the process: clients of one process see each other's, and closing another descriptor of the same
/// file drops nothing.
class presence {
public:
    explicit presence(base::descriptor file);

    /// Names the side file: evidence from one says nothing about clients that use another.
    [[nodiscard]] std::int64_t side() const noexcept { return side_; }

    /// Takes the byte of `slot`; false when somebody else has it. A client has one slot at a time.
    [[nodiscard]] bool take(std::int64_t slot) noexcept;
    [[nodiscard]] std::int64_t slot() const noexcept { return slot_; }

    /// Whether nobody has the byte, which proves that the client who registered it is gone. Doubt
    /// counts as no.
    [[nodiscard]] bool vacant(std::int64_t slot) const noexcept;

    /// Whether somebody else has the byte, which proves that a process of this boot is there. Doubt
    /// counts as no.
    [[nodiscard]] bool occupied(std::int64_t slot) const noexcept;

    /// Unlocks our byte: we never became the client whom it would show to be alive.
    void give_up() noexcept;

    /// Whether `path` still names this file.
    [[nodiscard]] bool is_at(char const* path) const noexcept;

    /// Another descriptor of the open file: the byte stays locked until it is closed as well.
    [[nodiscard]] base::descriptor share() const noexcept;

    /// Gives the byte up by closing the file. In the child of a fork this closes the child's copy
    /// only: the parent keeps its byte, and no longer depends on the child.
    void abandon() noexcept { file_.reset(); }

private:
    base::descriptor file_;
    std::int64_t side_{0};
    dev_t device_{0};
    std::int64_t slot_{-1};
};

}  // namespace holdfast::stores::file
