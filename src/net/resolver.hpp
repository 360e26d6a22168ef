// Finds the addresses of a host without holding anybody up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/address.hpp"

namespace holdfast::net {

/// One question. A host that is a number, or localhost, is answered at once; a name is looked up on a
/// thread of its own, which may outlive the object when the name service is slow.
///
/// Thread-safety: none; its owner serialises. The thread shares nothing with it but the answer, which has a
/// lock of its own.
class resolver {
public:
    /// `answered` is called on that thread, at the latest when the object ends, with the lock of the answer
    /// held; so it must do no more than wake.
    resolver(std::string const& host, std::uint16_t port, std::function<void()> answered);
    ~resolver();
    resolver(resolver const&) = delete;
    resolver& operator=(resolver const&) = delete;

    /// Whether the answer is there.
    [[nodiscard]] bool ready() const;

    /// The addresses, in the order to try; what went wrong in `why` when there is none.
    [[nodiscard]] std::vector<address> take(std::string& why);

private:
    struct question;
    std::shared_ptr<question> question_;
};

}  // namespace holdfast::net
