#include "simulation/parties/buffer_party.hpp"

#include <algorithm>
#include <utility>

#include "core/claim_state.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds wake{60};

core::terms_ptr draw_terms(world& where, std::string name, lock_kind kind) {
    auto const& plan = where.plan;
    seam::claim_spec spec{.name = std::move(name), .kind = kind};
    lock_options options;
    options.lease =
        plan.lease_min + where.draw_ms(plan.lease_max - plan.lease_min + milliseconds{1});
    if (kind == lock_kind::condition) {
        spec.mode = claim_mode::permits;
        options.order = ordering::fair;
    }
    return std::make_shared<core::terms const>(core::make_terms(std::move(spec), options));
}

user& make_hand(world& where, client& home, std::string const& name) {
    habit its;
    its.terms = draw_terms(where, name, lock_kind::lock);
    auto& out = where.add_user(home, std::move(its));
    out.scripted = true;
    return out;
}

}  // namespace

buffer_party::buffer_party(world& where, client& home, std::string number, role its)
    : party{where, home},
      name_{"buffer/" + number},
      role_{its},
      produces_{its == role::producer},
      buffer_{where.board.buffers[name_]},
      mine_{draw_terms(where, (produces_ ? "room/" : "items/") + number, lock_kind::condition)},
      theirs_{draw_terms(where, (produces_ ? "items/" : "room/") + number, lock_kind::condition)},
      hand_{make_hand(where, home, name_)} {
    // Where only one consumer waits, nothing but its own notice may move things on.
    auto const most = where.plan.crowd == 0 ? 3U : 1U;
    if (buffer_.made == 0) buffer_.capacity = 1 + where.random.below(most);
    hand_.then = [this] { look(); };
}

std::string buffer_party::text() const {
    return world::name_of(home_) + " user " + std::to_string(hand_.number()) +
           (produces_ ? ", who fills '" : ", who empties '") + name_ + "'";
}

bool buffer_party::ready() const {
    return produces_ ? buffer_.items.size() < buffer_.capacity : !buffer_.items.empty();
}

bool buffer_party::locked() const {
    return hand_.hold() != nullptr && world_.believed(*hand_.hold());
}

std::optional<moment> buffer_party::stuck_since() const {
    if (waiting_ == nullptr || !ready()) return std::nullopt;
    return std::max(since_, buffer_.changed);
}

// Nobody will put anything in any more, and nothing is left.
bool buffer_party::done() const {
    if (home_.closed() || (retired_ && produces_)) return true;
    if (!retired_ || !buffer_.items.empty()) return false;
    for (auto const& home : world_.clients)
        for (auto const& each : home->parties)
            if (auto const* const other = dynamic_cast<buffer_party const*>(each.get()))
                if (home->alive() && &other->buffer_ == &buffer_ && other->producing())
                    return false;
    return true;
}

void buffer_party::start() {
    think([this] { go_on(); });
}

void buffer_party::retire() {
    party::retire();
    wind_down();
}

// Somebody waits for what will never come: as a program that ends would, it stops waiting.
void buffer_party::wind_down() {
    if (resting_) return;
    if (waiting_ != nullptr && done() && waiting_->outcome == core::verdict::pending)
        home_.engine()->withdraw(*waiting_, home_.now());
    later(milliseconds{20}, [this] { wind_down(); });
}

void buffer_party::pause() {
    bool const long_away = role_ == role::fickle && !retired_;
    if (!long_away) return think([this] { go_on(); });
    later(world_.draw(std::chrono::seconds{4}), [this] { go_on(); });
}

void buffer_party::go_on() {
    if (!done()) return hand_.acquire(true);
    resting_ = true;
}

void buffer_party::unlock() {
    if (hand_.hold() != nullptr) hand_.release(false);
}

void buffer_party::look() {
    if (!locked()) {
        unlock();
        return think([this] { go_on(); });
    }
    ready() ? notify() : wait();
}

// --- to change it ------------------------------------------------------------------------------

void buffer_party::notify() {
    seam::adjust request{{theirs_->spec, {}, {}}};
    request.wake = world_.random.one_in(4) ? UINT32_MAX : 1;
    telling_ = std::make_unique<core::operation_call>(std::move(request), notify_end_);
    telling_->deadline = home_.now() + world_.plan.patience;
    if (produces_ && world_.plan.crowd == 2) dishearten();
    home_.engine()->begin(*telling_, home_.now());
}

void buffer_party::on_answer() noexcept {
    if (!home_.alive()) return;
    later(world_.draw(wake), [this] {
        bool const told = !telling_->error;
        telling_.reset();
        if (told && locked() && ready()) act();
        unlock();
        think([this] { go_on(); });
    });
}

void buffer_party::act() {
    buffer_changed what{name_, 0, produces_};
    if (produces_) {
        buffer_.items.push_back(what.item = ++buffer_.made);
    } else {
        what.item = buffer_.items.front();
        buffer_.items.pop_front();
    }
    buffer_.changed = world_.time.now();
    world_.note(
        [&] { return text() + (produces_ ? " puts " : " takes ") + std::to_string(what.item); });
    world_.report(what);
}

// --- to wait -----------------------------------------------------------------------------------

void buffer_party::wait() {
    auto const& plan = world_.plan;
    // Who keeps two from having the mutex at once is gone with the store: a notice may be lost then.
    bool const doubtful = plan.restarts > 0 || !plan.within_fault_model();
    bool const patient = role_ == role::patient && !doubtful;
    bool const limited = doubtful || (!patient && world_.percent(20));
    auto const span = world_.draw(milliseconds{400}) + milliseconds{1};
    world_.note([&] { return text() + " waits for '" + mine_->spec->name + "'"; });
    ++waits_;
    since_ = world_.time.now();
    waiting_ =
        std::make_unique<core::acquire_call>(std::make_shared<core::wait_queue>(mine_), wait_end_);
    if (world_.broken.unlocks_first) unlock();
    home_.engine()->begin(*waiting_, home_.now(), limited ? home_.now() + span : base::never);
    if (!patient && world_.percent(15)) give_up_in(world_.draw(milliseconds{200}));
}

void buffer_party::give_up_in(moment delay) {
    later(delay, [this, mine = waits_] {
        if (mine == waits_ && waiting_ != nullptr) home_.engine()->withdraw(*waiting_, home_.now());
    });
}

// The fickle give up when it hurts most: while a notice is on its way to them.
void buffer_party::dishearten() {
    for (auto const& home : world_.clients)
        for (auto const& each : home->parties)
            if (auto* const other = dynamic_cast<buffer_party*>(each.get());
                other != nullptr && other->role_ == role::fickle && other->waiting_ != nullptr &&
                home->alive() && world_.random.one_in(2))
                other->give_up_in(world_.draw(2 * world_.plan.latency_max));
}

void buffer_party::on_queued() noexcept {
    if (!home_.alive()) return;
    later(world_.draw(wake), [this, mine = waits_] {
        if (mine != waits_ || waiting_ == nullptr) return;
        // One that lost the mutex before it was in the line may have missed a notice.
        bool const in_time = locked() || hand_.hold() == nullptr;
        unlock();
        if (!in_time) home_.engine()->withdraw(*waiting_, home_.now());
    });
}

void buffer_party::on_completed() noexcept {
    if (!home_.alive()) return;
    later(world_.draw(wake), [this] { on_woken(); });
}

void buffer_party::on_woken() {
    unlock();
    auto const was = std::move(waiting_);
    world_.note(
        [&] { return text() + (was->held != nullptr ? " was notified" : " waits no more"); });
    if (was->held != nullptr) home_.engine()->consume(was->held, home_.now());
    // The fickle one does not even look: whatever it might have been told, others must hear.
    bool const told = was->outcome == core::verdict::granted;
    told || role_ != role::fickle ? go_on() : pause();
}

}  // namespace holdfast::simulation
