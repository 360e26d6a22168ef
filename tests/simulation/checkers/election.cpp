#include <map>
#include <optional>
#include <string>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

/// What one observer was told.
struct news {
    std::string name{};
    std::uint64_t newest{0};  ///< the highest sequence so far
    std::uint64_t leader{0};  ///< 0: nobody
    bool any{false};
};

class election final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "election"; }

    void granted(store_hold const& fresh, bool) override {
        if (fresh.spec->kind == lock_kind::election)
            terms_[{fresh.spec->name, static_cast<std::uint64_t>(fresh.number)}] =
                fresh.spec->value;
    }

    void given(local_hold const& it) override {
        if (it.terms->spec->kind != lock_kind::election || !here().plan.within_fault_model())
            return;
        for (auto const& other : here().holds())
            if (other->claim != it.claim && !other->forsaken && !it.forsaken &&
                other->terms->spec->name == it.terms->spec->name && here().believed(*other))
                fail("'" + it.terms->spec->name + "' has two leaders");
    }

    void happened(event const& what) override {
        auto const* const heard = std::get_if<leader_heard>(&what);
        if (heard == nullptr) return;
        auto& its = told_[heard->observer];
        bool const repeated = its.any && !heard->who && its.leader == 0;
        if (repeated) fail("an observer of '" + heard->name + "' was told twice of nobody");
        its.name = heard->name;
        its.any = true;
        its.leader = heard->who ? heard->who->token >> 8 : 0;
        if (!heard->who) return;
        auto const term = terms_.find({heard->name, its.leader});
        if (term == terms_.end() || term->second != heard->who->value)
            fail("an observer of '" + heard->name + "' was told of a leader who never was");
        if (its.leader <= its.newest)
            fail("an observer of '" + heard->name + "' was told of leaders out of order");
        its.newest = std::max(its.newest, its.leader);
    }

    void tick() override {
        if (here().plan.about != theme::election) return;
        for (auto const& home : here().clients)
            for (auto const& user : home->users)
                truth_of(user->its_habit().terms->spec->name);
        if (!here().calm && !here().plan.faultless()) return;
        if (!calm_since_) calm_since_ = here().time.now();
        for (auto const& [observer, its] : told_)
            if (listens(observer)) check(its);
    }

    void finished() override {
        if (here().plan.about != theme::election) return;
        for (auto const& [observer, its] : told_)
            if (listens(observer) && its.leader != 0)
                fail("an observer of '" + its.name + "' was not told that nobody leads any more");
    }

private:
    struct state {
        std::uint64_t leader{0};
        moment since{};
    };

    bool listens(std::uint64_t observer) {
        auto const& home = *here().clients[observer / 8];
        return home.alive() && !home.stopped() && !home.closed();
    }

    state const& truth_of(std::string const& name) {
        auto const holders = here().seen.holders(name, here().store.now());
        auto const leader =
            holders.empty() ? 0 : static_cast<std::uint64_t>(holders.front()->number);
        auto& it = truth_[name];
        if (it.leader != leader) it = {leader, here().time.now()};
        return it;
    }

    // A grant is told at once; the end of a lease by whoever asks next. A poll stands behind both.
    void check(news const& its) {
        auto const& now = truth_of(its.name);
        auto const& plan = here().plan;
        // Where nothing is pushed, an observer asks so often.
        std::chrono::milliseconds const pause{plan.polls ? 250 : 0};
        auto const trips = 8 * plan.latency_max + std::chrono::milliseconds{100} + pause;
        bool const at_once = plan.faultless() && now.leader != 0;
        auto const bound =
            at_once ? trips : trips + std::chrono::seconds{8} + moment{plan.request_timeout};
        if (its.leader != now.leader &&
            here().time.now() - std::max(now.since, *calm_since_) > bound)
            fail("an observer of '" + its.name + "' was not told who leads");
    }

    std::map<std::pair<std::string, std::uint64_t>, std::string> terms_;
    std::map<std::uint64_t, news> told_;
    std::map<std::string, state> truth_;
    std::optional<moment> calm_since_;
};

}  // namespace

checker_ptr make_election(world& where) { return std::make_unique<election>(where); }

}  // namespace holdfast::simulation
