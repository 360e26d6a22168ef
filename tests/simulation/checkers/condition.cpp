#include <map>
#include <optional>
#include <set>
#include <string>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class condition final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "condition"; }

    void happened(event const& what) override {
        auto const* const change = std::get_if<buffer_changed>(&what);
        if (change == nullptr) return;
        auto& inside = inside_[change->name];
        bool const well =
            change->produced ? inside.insert(change->item).second : inside.erase(change->item) == 1;
        if (!well) fail("'" + change->name + "' gave one thing to two");
        if (inside.size() > here().board.buffers.at(change->name).capacity)
            fail("'" + change->name + "' holds more than it can");
    }

    void tick() override {
        auto const& plan = here().plan;
        bool const watching = here().calm || plan.only_deaths();
        if (!watching || plan.about != theme::condition) return;
        if (!since_) since_ = here().time.now();
        // A notice whose waiter died passes on when its lease is over.
        auto const deaths = here().calm ? moment{0} : 2 * moment{plan.lease_max};
        auto const bound = deaths + 40 * plan.latency_max + std::chrono::milliseconds{500};
        for (auto const& home : here().clients)
            for (auto const& each : home->parties)
                if (auto const since = each->stuck_since();
                    since && home->alive() && !home->closed() &&
                    here().time.now() - std::max(*since, *since_) > bound)
                    fail(each->text() + ", waits and was not notified of what there is");
    }

    void finished() override {
        for (auto const& [name, items] : inside_)
            if (!items.empty()) fail("something is left in '" + name + "'");
    }

private:
    std::map<std::string, std::set<std::uint64_t>> inside_;
    std::optional<moment> since_;
};

}  // namespace

checker_ptr make_condition(world& where) { return std::make_unique<condition>(where); }

}  // namespace holdfast::simulation
