// Where the servers of a URL are: their names looked up without holding anybody up.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "net/poller.hpp"
#include "net/resolver.hpp"
#include "stores/zookeeper/settings.hpp"

namespace holdfast::stores::zookeeper {

/// One question for all of them. The library gets addresses only: it would look names up itself whenever it connects, and wait
/// for that under the driver's lock.
///
/// Thread-safety: none; its owner serialises.
class server_lookup {
public:
    /// Wakes `events` when there is an answer.
    server_lookup(settings const& of, net::poller& events);

    /// Whether all names are answered, or some while the others take too long.
    [[nodiscard]] bool ready(base::instant now) const;
    /// When it may be ready without being woken.
    [[nodiscard]] base::instant due() const noexcept { return patient_until_; }

    /// Addresses as the library takes them, an IPv6 one without brackets; empty when no name is known.
    [[nodiscard]] std::string take();

private:
    std::vector<std::unique_ptr<net::resolver>> asked_;
    base::instant patient_until_;
};

}  // namespace holdfast::stores::zookeeper
