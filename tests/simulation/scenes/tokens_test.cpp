// Tokens rise over ten thousand grants of one name: passes, releases, expiries and restarts mixed.
#include "simulation/stage.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

class token_watch final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "tokens"; }
    void given(local_hold const& it) override {
        if (it.grant->token() <= last_) fail("a token does not rise");
        last_ = it.grant->token();
        ++grants;
        if (it.pass() > 0) ++passes;
    }
    void ended(store_hold const&, store_end how) override {
        if (how == store_end::expired) ++expiries;
    }
    int grants{0};
    int passes{0};
    int expiries{0};

private:
    std::uint64_t last_{0};
};

void people(stage& scene, habit const& its) {
    auto& home = scene.add_client();
    for (int i = 0; i < 4; ++i)
        scene.add_user(home, its).start();
}

TEST(tokens, rise_over_ten_thousand_grants) {
    stage scene;
    auto watch = std::make_unique<token_watch>(scene);
    auto& seen = *watch;
    scene.checkers.push_back(std::move(watch));
    habit busy;
    busy.terms = std::make_shared<core::terms const>(
        core::make_terms({.name = "scene"}, {.lease = 300ms, .local_passes = 5}));
    busy.think = 2ms;
    busy.hold = 1ms;
    for (int i = 0; i < 3; ++i)
        people(scene, busy);
    int restarts = 0;
    while (seen.grants < 10'000 && !scene.failed() && scene.time.now() < 1h) {
        scene.run_for(400ms);
        // A client that dies while it holds leaves an expiry; another takes its place.
        if (!scene.holds().empty()) {
            scene.clients[scene.holds().front()->client]->kill();
            people(scene, busy);
        }
        if (seen.grants < (restarts + 1) * 900) continue;
        // Nobody is left who believes in a hold that the store forgets: that is outside its promise.
        for (auto const& one : scene.clients)
            one->kill();
        scene.store.restart(true);
        ++restarts;
        for (int i = 0; i < 3; ++i)
            people(scene, busy);
    }
    EXPECT_GE(seen.grants, 10'000);
    EXPECT_GT(seen.passes, 1'000);
    EXPECT_GT(seen.expiries, 5);
    EXPECT_GE(restarts, 5);
}

}  // namespace
}  // namespace holdfast::simulation
