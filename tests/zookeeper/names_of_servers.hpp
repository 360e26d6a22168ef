// The name service of a test: what names stand for, and how long it takes to say so.
#pragma once

#include <string>

namespace holdfast::zookeeper_tests {

/// For names that end with ".test"; others are looked up as usual. There is one in the program, and getaddrinfo(3) asks it.
/// Thread-safety: every function may be called from any thread at once.
namespace names_of_servers {

/// An address; empty: nobody knows the name.
void set(std::string const& name, std::string const& address);
/// Nobody is answered until `answer_again`.
void be_silent();
void answer_again();
/// How often it was asked.
[[nodiscard]] int asked();

}  // namespace names_of_servers

}  // namespace holdfast::zookeeper_tests
