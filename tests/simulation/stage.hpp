// A stage for scripted scenes: a quiet world in which only what the scene says goes wrong, with all
// checkers watching.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

class stage : public world {
public:
    explicit stage(std::uint64_t seed = 1, profile its = quiet(), variant which = {})
        : world{seed, its, std::move(which)} {
        add_all_checkers(*this);
        tick_on();
    }
    ~stage() {
        if (failed()) ADD_FAILURE() << failed()->checker << ": " << failed()->words;
    }

    static profile quiet() {
        profile out;
        out.cuts = 1;  // the scene makes its own faults: no checker may rely on there being none
        out.latency_max = std::chrono::microseconds{500};
        return out;
    }

    /// A user of its own client that acts only when told.
    user& actor(lock_options const& options = {.lease = std::chrono::seconds{3}},
                seam::claim_spec const& spec = {.name = "scene"}) {
        return actor(add_client(), options, spec);
    }
    user& actor(client& home, lock_options const& options,
                seam::claim_spec const& spec = {.name = "scene"}) {
        habit its;
        its.terms = std::make_shared<core::terms const>(core::make_terms(spec, options));
        its.wake = moment{0};
        auto& it = add_user(home, its);
        it.scripted = true;
        return it;
    }
    client& home_of(user const& who) {
        for (auto const& home : clients)
            for (auto const& one : home->users)
                if (one.get() == &who) return *home;
        std::abort();
    }

    /// Lets the user do something in its client, now.
    void act(user& who, std::function<void(user&)> what) {
        home_of(who).at(time.now(), [&who, what = std::move(what)] { what(who); });
        run_for(moment{0});
    }
    void acquire(user& who, bool wait = true, std::optional<moment> within = {}) {
        auto& home = home_of(who);
        auto const deadline = within ? home.now() + *within : base::never;
        act(who, [=](user& actor) { actor.acquire(wait, deadline); });
    }
    void release(user& who, bool wait = true) {
        act(who, [=](user& actor) { actor.release(wait); });
    }

    /// What the user would see if it looked at its hold now.
    lease_state state_of(user const& who) {
        return who.hold() == nullptr ? lease_state::released
                                     : who.hold()->grant->state(home_of(who).now());
    }
    std::size_t holders(std::string const& name = "scene") {
        return seen.holders(name, store.now()).size();
    }

private:
    void tick_on() {
        time.in(std::chrono::milliseconds{10}, [this] {
            tell([](checker& it) { it.tick(); });
            tick_on();
        });
    }
};

/// Whether the request is of this kind.
template <class Verb>
[[nodiscard]] bool is(seam::request const& what) {
    return std::holds_alternative<Verb>(what);
}

}  // namespace holdfast::simulation
