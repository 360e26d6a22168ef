// The locks under which what few holds have is kept.
#pragma once

namespace holdfast::core {

/// In the child of a fork, with no other thread alive: a thread of the parent may have had one of the locks.
void renew_hold_mutexes_in_child() noexcept;

}  // namespace holdfast::core
