// The simulated store: the reference machine on the store's own clock, which can fall silent,
// restart, and be told to misunderstand.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "seam/store.hpp"
#include "simulation/lanes.hpp"
#include "simulation/odd_store.hpp"
#include "simulation/sessions.hpp"
#include "simulation/timeline.hpp"
#include "simulation/variant.hpp"
#include "stores/memory/shared_state.hpp"

namespace holdfast::simulation {

class documents;
class world;

class server {
public:
    using identity_ptr = std::shared_ptr<seam::identity const>;
    using answer_to = std::function<void(seam::reply)>;

    /// Where a client sends a request: to the server that stands behind a lane, and in which session.
    struct route {
        lanes::source to{};
        session_ref in{};
    };

    server(world& where, variant broken);
    ~server();

    [[nodiscard]] seam::store_time clock(moment when) const noexcept;
    [[nodiscard]] seam::store_time now() const noexcept;
    /// The first moment of true time at which the store's clock shows `shown`.
    [[nodiscard]] moment when(seam::store_time shown) const noexcept;

    /// Carries out a request that has arrived, now or when the store speaks again.
    void receive(identity_ptr const& from, seam::request what, answer_to answer);
    /// The same for a request that was sent to the server that stood behind a lane then, in the times of
    /// its clock. It is lost, and not answered, when another one stands there.
    void receive(identity_ptr const& from, seam::request what, route by, answer_to answer);
    /// A sign of life of a session. The answer is whether it lives.
    void receive_beat(session_ref which, std::function<void(bool)> answer);
    [[nodiscard]] std::uint64_t next_session() noexcept { return ++last_session_; }
    /// Null where claims have leases of their own.
    [[nodiscard]] sessions* with_sessions() noexcept { return sessions_.get(); }

    /// Null unless it compares.
    [[nodiscard]] documents* with_documents() noexcept { return documents_.get(); }
    /// Now, or when it is heard of again.
    void when_it_speaks(std::function<void()> what);

    /// Answers nothing until then. What arrives meanwhile is lost, or done at the end.
    void fall_silent(moment until, bool lose);
    void restart(bool empty);
    void jump(std::chrono::microseconds forward);
    /// Another server with another clock comes to stand behind the lane.
    void change_clock(seam::lane_id lane, std::optional<std::chrono::microseconds> ahead = {});
    [[nodiscard]] lanes const& behind() const noexcept { return lanes_; }
    /// Once there is a world.
    void begin_documents();
    void wake() noexcept { silent_until_ = moment{0}; }

    /// Names, cells and tombstones that are stored.
    [[nodiscard]] std::size_t size() const noexcept {
        return odd_ != nullptr ? odd_->size() : machine_->size();
    }

private:
    void carry_out(identity_ptr const& from, seam::request what, session_ref const* in,
                   answer_to const& answer);
    seam::reply handle(identity_ptr const& from, seam::request const& what,
                       std::vector<stores::lease::directed_notice>& notices);
    void push(seam::client_id to, seam::notice what);
    void begin_anew();

    world& world_;
    variant const broken_;
    std::chrono::microseconds offset_;
    lanes lanes_;
    std::uint64_t last_session_{0};
    std::unique_ptr<sessions> sessions_;
    moment silent_until_{0};
    bool losing_{false};
    std::unique_ptr<stores::memory::machine> machine_;
    std::unique_ptr<documents> documents_;
    std::unique_ptr<odd_store> odd_;  ///< in its place, in a variant
};

}  // namespace holdfast::simulation
