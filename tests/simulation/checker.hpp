// A checker watches one promise. It learns what the store did and what users were told, never how.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "seam/reply.hpp"
#include "simulation/events.hpp"
#include "simulation/holds.hpp"

namespace holdfast::simulation {

class client;
class world;

class checker {
public:
    explicit checker(world& where) : world_{where} {}
    checker(checker const&) = delete;
    checker& operator=(checker const&) = delete;
    virtual ~checker() = default;

    [[nodiscard]] virtual char const* name() const = 0;

    // At the store.
    virtual void granted(store_hold const&, bool /*from_line*/) {}
    virtual void extended(store_hold const&) {}
    virtual void ended(store_hold const&, store_end) {}
    virtual void carried_out(seam::request const&, seam::reply const&) {}
    /// It has begun anew and knows nothing.
    virtual void emptied() {}

    // At the users.
    virtual void given(local_hold const&) {}
    virtual void told(local_hold const&) {}
    virtual void let_go(local_hold const&) {}
    virtual void answered(local_hold const&, release_outcome) {}
    virtual void begun(call_record const&) {}
    virtual void completed(call_record const&) {}
    virtual void renewal_sent(seam::claim_id) {}
    virtual void sent(client const&, seam::request const&) {}
    virtual void happened(event const&) {}
    /// A client has just been told that the session of these claims is lost.
    virtual void session_lost(std::vector<seam::claim_id> const&) {}

    /// Now and then, and often enough to see what does not happen.
    virtual void tick() {}
    /// Faults are over, everybody has let go, and the longest leases have passed.
    virtual void finished() {}

protected:
    /// Ends the run: the promise was broken.
    void fail(std::string words);
    [[nodiscard]] world& here() noexcept { return world_; }

private:
    world& world_;
};

}  // namespace holdfast::simulation
