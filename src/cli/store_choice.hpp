// Which store a command talks to.
#pragma once

#include <string>

#include <holdfast/client.hpp>

#include "invocation.hpp"

namespace holdfast::cli {

struct chosen_store {
    std::string url{};   ///< with its password, if it has one
    std::string name{};  ///< in the configuration; empty for one that is not from there
};

/// That of --store, else of $HOLDFAST_STORE (each of them a URL or the name of a configured store), else of the
/// configuration's default, else of a file: below /var/lib/holdfast for the superuser, below $XDG_STATE_HOME or
/// ~/.local/state for others, whose directory is made. With --verbose it says which and why. A relative path is
/// made absolute, with a warning. Call it once.
///
/// Throws `usage_error` for `memory:`, which only `bench` may use, and when there is no home to put a file in;
/// `failure` for a mistake in the configuration; std::system_error when the directory cannot be made.
[[nodiscard]] chosen_store choose_store(invocation const& invocation);

/// A client of that store, with the patience that was asked for. Does no I/O.
[[nodiscard]] client open_client(std::string const& store, invocation const& invocation,
                                 std::string label = {});

/// The same of the store that is chosen.
[[nodiscard]] client open_client(invocation const& invocation);

}  // namespace holdfast::cli
