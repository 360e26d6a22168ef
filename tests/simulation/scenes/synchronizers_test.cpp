// Scenes about scripts: what a party at a barrier, or one who wants several names, is told and leaves
// behind.
#include "core/barrier.hpp"
#include "core/claim_state.hpp"
#include "core/collecting.hpp"
#include "core/task_context.hpp"
#include "simulation/stage.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

/// One script of one client, from its beginning to what it was told.
struct attempt {
    attempt(stage& scene, client& home, core::task_call::body what,
            std::optional<moment> within = {})
        : its{scene, home, std::move(what)} {
        home.at(scene.time.now(), [this, &home, within] {
            auto const deadline = within ? home.now() + *within : base::never;
            its.begin(deadline, [this](errand::end const& how) { end = how; });
        });
        scene.run_for(moment{0});
    }
    errand its;
    std::optional<errand::end> end{};
};

core::barrier_terms_ptr barrier_of_two(std::chrono::milliseconds lease) {
    seam::claim_spec spec{.name = "scene", .kind = lock_kind::barrier};
    spec.mode = claim_mode::shared;
    return std::make_shared<core::barrier_terms const>(core::barrier_terms{
        2, std::make_shared<core::terms const>(core::make_terms(spec, {.lease = lease}))});
}

struct arriving {
    arriving(stage& scene, client& home, core::barrier_terms_ptr const& terms,
             std::optional<moment> within = {})
        : tried{scene, home,
                [this, terms](core::task_context& on) {
                    return core::arrive_at_barrier(on, terms, generation);
                },
                within} {}
    std::optional<std::uint64_t> generation{};
    attempt tried;
};

TEST(synchronizers, a_party_that_cannot_say_that_it_leaves_lets_go_of_its_presence) {
    auto plan = stage::quiet();
    plan.patience = 1s;
    stage scene{1, plan};
    auto& home = scene.add_client();
    bool deaf = false;
    home.net().on_request = [&](seam::request const& what) {
        return link::script{.lose_request = deaf && (is<seam::read>(what) || is<seam::swap>(what))};
    };
    arriving party{scene, home, barrier_of_two(3s), moment{300ms}};
    scene.run_for(200ms);
    ASSERT_EQ(scene.holders(), 1U);
    deaf = true;
    scene.run_for(5s);
    ASSERT_TRUE(party.tried.end);
    EXPECT_EQ(party.tried.end->error, make_error_code(errc::store_unavailable));
    EXPECT_EQ(scene.holders(), 0U) << "nobody can see that it has left";
    EXPECT_TRUE(home.engine()->idle());
}

TEST(synchronizers, a_party_whose_presence_ended_after_the_trip_is_told_of_the_trip) {
    auto plan = stage::quiet();
    plan.request_timeout = 500ms;
    plan.silent_drop = 10'000;
    stage scene{1, plan};
    auto& unlucky = scene.add_client();
    auto& other = scene.add_client();
    int swaps = 0;
    unlucky.net().on_request = [&](seam::request const& what) {
        return link::script{.lose_reply = is<seam::swap>(what) && ++swaps == 1};
    };
    auto const terms = barrier_of_two(3s);
    arriving first{scene, unlucky, terms};
    scene.run_for(100ms);
    arriving last{scene, other, terms};
    scene.run_for(100ms);
    EXPECT_EQ(last.generation, 0U);
    scene.store.receive(std::make_shared<seam::identity const>(), seam::evict{.name = "scene"},
                        [](seam::reply const&) {});
    scene.run_for(3s);
    ASSERT_TRUE(first.tried.end);
    EXPECT_TRUE(first.tried.end->well()) << first.tried.end->text;
    EXPECT_EQ(first.generation, 0U);
    EXPECT_EQ(swaps, 2);
}

TEST(synchronizers, a_client_may_end_while_it_still_has_to_say_that_a_party_left) {
    stage scene;
    auto& home = scene.add_client();
    arriving party{scene, home, barrier_of_two(3s)};
    scene.run_for(100ms);
    home.net().on_request = [](seam::request const&) { return link::script{.lose_request = true}; };
    home.at(scene.time.now(), [&] { party.tried.its.stop(); });
    scene.run_for(100ms);
    ASSERT_TRUE(party.tried.end);
    EXPECT_TRUE(party.tried.end->stopped);
    EXPECT_FALSE(home.engine()->idle());
}

TEST(synchronizers, several_names_are_not_given_when_one_was_lost_meanwhile) {
    stage scene;
    auto& home = scene.add_client();
    bool slow = true;
    home.net().on_request = [&](seam::request const& what) {
        auto const* const submit = std::get_if<seam::submit>(&what);
        bool const late = slow && submit != nullptr && submit->subject.name() == "y";
        if (late) slow = false;
        return link::script{.lose_request = is<seam::renew>(what) && scene.time.now() < 2s,
                            .delay_request = late ? moment{2s} : moment{0}};
    };
    std::vector<std::shared_ptr<core::wait_queue>> lines;
    for (auto const* const name : {"x", "y"})
        lines.push_back(std::make_shared<core::wait_queue>(std::make_shared<core::terms const>(
            core::make_terms({.name = name}, {.lease = 300ms}))));
    std::vector<std::shared_ptr<core::hold_state>> held;
    attempt both{scene, home,
                 [&](core::task_context& on) { return core::acquire_all(on, lines, true, held); }};
    while (!both.end && scene.time.now() < 10s)
        scene.run_for(1ms);
    ASSERT_EQ(held.size(), 2U);
    for (auto const& each : held)
        EXPECT_EQ(each->state(home.now()), lease_state::held) << each->held_terms().spec->name;
}

}  // namespace
}  // namespace holdfast::simulation
