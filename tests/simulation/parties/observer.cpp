#include "simulation/parties/observer.hpp"

#include <utility>

#include "core/leadership.hpp"
#include "core/task_context.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

observer::observer(world& where, client& home, std::string name, std::uint64_t number)
    : party{where, home}, name_{std::move(name)}, number_{number} {}

std::string observer::text() const {
    return world::name_of(home_) + " observer " + std::to_string(number_) + " of '" + name_ + "'";
}

void observer::start() {
    errand_ = std::make_unique<errand>(world_, home_, [this](core::task_context& on) {
        return core::observe_leader(on, name_, [this](std::optional<leader_info> const& who) {
            if (!home_.alive()) return;
            world_.note([&] {
                return text() + " hears of " +
                       (who ? who->value + " with token " + std::to_string(who->token >> 8)
                            : std::string{"nobody"});
            });
            world_.report(leader_heard{number_, name_, who});
        });
    });
    later(moment{0}, [this] { errand_->begin(base::never, [](errand::end const&) {}); });
}

}  // namespace holdfast::simulation
