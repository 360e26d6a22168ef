// Which versions of etcd keep what they acknowledged about leases.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::stores::etcd {

/// False for those that may end a lease early: a leader that had been stopped could revoke leases that
/// were renewed elsewhere meanwhile (until 3.4.31 and 3.5.13), and a renewal could be answered with
/// success although the lease was gone (until 3.4.38, 3.5.23 and 3.6.5).
[[nodiscard]] bool keeps_promises(std::string_view version);

[[nodiscard]] std::string weak_version_words(std::string_view version, std::string_view where);

}  // namespace holdfast::stores::etcd
