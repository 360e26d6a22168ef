// One session of this client: when it was last counted alive, and for how long that lasts.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "stores/compare/driver.hpp"
#include "stores/zookeeper/session_handle.hpp"

namespace holdfast::stores::zookeeper {

/// The signs of life that are known to count.
///
/// A follower tells its leader who has spoken to it when it is asked, twice a tick. So the leader surely counts from a moment that
/// may lie as far back as two signs of life before the last one: a quarter of the time-out, for we write twice in that time,
/// and two ticks. A lease is that much shorter than ZooKeeper's time-out.
///
/// Thread-safety: none.
class signs_of_life {
public:
    using milliseconds = std::chrono::milliseconds;

    /// `tick`: of the servers, no shorter than theirs.
    explicit signs_of_life(milliseconds tick) : tick_{tick} {}

    /// ZooKeeper's time-out, once it is known.
    void set_given(milliseconds time_out) noexcept { given_ = time_out; }
    [[nodiscard]] milliseconds given() const noexcept { return given_; }

    /// What is told to be the lease; and which time-out to ask for so that it is as long as that.
    [[nodiscard]] milliseconds lease() const noexcept { return lease_of(given_, tick_); }
    [[nodiscard]] static milliseconds lease_of(milliseconds given, milliseconds tick) noexcept;
    [[nodiscard]] static milliseconds time_out_for(milliseconds lease, milliseconds tick) noexcept;
    /// How often something has to be written.
    [[nodiscard]] milliseconds interval() const noexcept { return given_ / 8; }

    /// The leader itself was asked at this moment or later: it counts from then on.
    void note_counted(base::instant since) { counted_ = std::max(counted_, since); }
    /// A write was confirmed by a majority. -> no later than when the lease that runs now began.
    [[nodiscard]] base::instant confirm(base::instant sent, base::instant confirmed);
    [[nodiscard]] base::instant counted() const noexcept { return counted_; }

private:
    struct sign {
        base::instant sent, confirmed;
    };

    milliseconds tick_;
    milliseconds given_{};
    base::instant counted_{};  ///< the leader has surely heard of us since
    std::deque<sign> recent_;  ///< of which that is not sure
};

struct living_session {
    compare::session_id id;
    signs_of_life signs;
    std::unique_ptr<session_handle> life{};  ///< does nothing but live
    std::string body{};
    compare::generation current{};
    int version{0};  ///< of its node: the generation's
    bool open{false};
    bool retried{false};  ///< the record, after the folders were made
    std::vector<compare::ticket> opening{};
    base::instant began{};      ///< of the lease, by the last call of `keep`
    base::instant next_sign{};  ///< when ZooKeeper is to hear of us again

    [[nodiscard]] base::instant ends() const noexcept { return began + signs.lease(); }
};

}  // namespace holdfast::stores::zookeeper
