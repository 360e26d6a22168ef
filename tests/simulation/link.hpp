// The connection of one client to the store: requests one way, replies and notices the other.
#pragma once

#include <map>
#include <optional>

#include "core/engine.hpp"
#include "simulation/server.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation {

class client;
class world;

/// Keeps the seam's word: each request is answered at most once, and a failure says nothing about
/// whether it was carried out.
class link {
public:
    link(world& where, client& whose) : world_{where}, client_{whose} {}

    void send(core::engine::outgoing out);
    /// `session` is that of the claim that it is about, where there is one.
    void push(seam::notice what, std::uint64_t session = 0);
    /// A heartbeat of a session; the answer is whether it lives.
    void beat(session_ref which, std::function<void(bool)> answer);
    /// The session is over: what was submitted in it and not answered fails.
    void fail_session(std::uint64_t number);

    /// All requests without an answer fail, or those of one lane. Those under way may still arrive.
    void cut(std::optional<seam::lane_id> lane = {});
    /// Nothing passes until then. It is lost, or arrives afterwards.
    void part(moment until, bool lose);
    void mend() noexcept { parted_until_ = moment{0}; }

    /// What the next message will suffer, for scripted tests.
    struct script {
        bool lose_request{false};
        bool lose_reply{false};
        moment delay_request{0};
        moment delay_reply{0};
    };
    std::function<script(seam::request const&)> on_request{};
    std::function<moment(seam::notice const&)> on_notice{};  ///< its delay; max() loses it

    enum stream { requests, replies, notices };

    /// Whether the next message is lost, and when it arrives otherwise.
    [[nodiscard]] bool lost(stream which);
    [[nodiscard]] moment arrival(stream which, moment delay);

private:
    void drop(seam::request_id id);
    void fail(seam::request_id id, char const* why, seam::clock_id clock = {});
    void arrive(seam::request_id id, seam::request const& what, server::route by,
                script const& fate);
    void answer(seam::request_id id, seam::reply reply, script const& fate);
    void deliver(seam::request_id id, seam::reply const& reply);

    world& world_;
    client& client_;
    std::map<seam::request_id, server::route> open_;
    moment last_[3]{};
    moment parted_until_{0};
    bool losing_{false};
};

}  // namespace holdfast::simulation
