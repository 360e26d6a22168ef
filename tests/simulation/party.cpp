#include "simulation/party.hpp"

#include <utility>

#include "core/engine.hpp"
#include "core/task_context.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

constexpr std::chrono::microseconds wake{60};  // at most, for a thread to run again

}  // namespace

void party::later(moment delay, std::function<void()> what) {
    home_.at(world_.time.now() + delay, std::move(what));
}

void party::think(std::function<void()> what) {
    auto const span = std::chrono::milliseconds{world_.random.one_in(3) ? 200 : 20};
    later(world_.draw(span) + std::chrono::microseconds{1}, std::move(what));
}

void errand::begin(base::instant deadline, std::function<void(end const&)> then) {
    then_ = std::move(then);
    call_.deadline = deadline;
    home_.engine()->begin(call_, home_.now());
}

void errand::stop() { home_.engine()->stop(call_, home_.now()); }

void errand::completed() noexcept {
    if (!home_.alive()) return;
    if (at_once) at_once();
    home_.at(world_.time.now() + world_.draw(wake), [this] { std::exchange(then_, {})(how()); });
}

errand::end errand::how() const {
    end out{.stopped = call_.stopped};
    try {
        if (call_.error != nullptr) std::rethrow_exception(call_.error);
    } catch (std::system_error const& it) {
        out.error = it.code();
        out.text = it.what();
    }
    return out;
}

}  // namespace holdfast::simulation
