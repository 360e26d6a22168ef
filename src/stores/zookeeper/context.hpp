// What all parts of the driver use.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "net/poller.hpp"
#include "stores/compare/outbox.hpp"
#include "stores/zookeeper/fault.hpp"
#include "stores/zookeeper/leader_clock.hpp"
#include "stores/zookeeper/paths.hpp"
#include "stores/zookeeper/session_handle.hpp"

namespace holdfast::stores::zookeeper {

/// Thread-safety: none; the driver serialises.
struct context {
    context(settings to, net::poller& events, compare::outbox& out)
        : given{std::move(to)},
          at{given.root},
          poller{events},
          told{out},
          chance{base::entropy()} {}

    settings const given;
    paths const at;
    net::poller& poller;
    compare::outbox& told;
    base::random chance;
    leader_clock clock;
    net::poller::tag last_tag{0};  ///< of a session handle; none is used twice
    closing_connections closing;
    /// To be closed when none of their answers is being read.
    std::vector<std::unique_ptr<session_handle>> over;

    [[nodiscard]] session_handle::surroundings surroundings() noexcept {
        return {given, poller, closing};
    }

    [[nodiscard]] fault judged(answer const& from) const {
        return judge(from.code, from.sent, given);
    }
    void tell(compare::ticket which, compare::outcome what) { told.tell(which, std::move(what)); }
    void tell(compare::ticket which, fault const& trouble) {
        told.fail(which, trouble.error, trouble.certain);
    }
    void doubt(std::string why) {
        told.log(log_level::warning, why);
        told.doubt(std::move(why));
    }
};

}  // namespace holdfast::stores::zookeeper
