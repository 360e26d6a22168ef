#include "core/stage.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core {

using std::chrono::nanoseconds;

base::instant stage::now() const noexcept { return engine_.now_; }

nanoseconds stage::jitter(nanoseconds span) { return engine_.jitter(span); }

seam::claim_id stage::next_operation() { return {engine_.set_.self, ++engine_.last_claim_}; }

stage::asking stage::make_asking(seam::request what, bool within_deadline) {
    auto const patience = base::after(now(), engine_.set_.patience);
    return {engine_, call_, std::move(what),
            within_deadline ? std::min(patience, call_.deadline) : patience};
}

stage::asking stage::read(seam::cell_key const& key) { return ask(seam::read{key}); }

stage::asking stage::read_anyway(seam::cell_key const& key) { return ask_anyway(seam::read{key}); }

// Who still counts by a watch that was ended meanwhile, by another user of the key, must find another
// mark: it would wait for news that nobody tells any more.
engine::watching& stage::watch_of(seam::cell_key const& key) {
    constexpr int room_for_changes = 24;
    auto const [its, is_new] = engine_.watches_.try_emplace(key);
    if (is_new) its->second.changes = ++engine_.last_ticket_ << room_for_changes;
    return its->second;
}

stage::asking stage::watch(seam::cell_key const& key) {
    if (watch_of(key).confirmed) return {engine_, call_, asking::known{}};
    auto out = ask(seam::watch{key});
    out.confirms = key;
    return out;
}

std::uint64_t stage::changes(seam::cell_key const& key) const { return engine_.changes_of(key); }

stage::changing stage::change(seam::cell_key const& key, std::uint64_t seen, nanoseconds poll) {
    return {engine_, call_, key, seen,
            std::min(call_.deadline, base::after(now(), poll + jitter(poll / 2)))};
}

stage::changing stage::pause(nanoseconds span) {
    return {engine_, call_, std::nullopt, 0, std::min(call_.deadline, base::after(now(), span))};
}

stage::acquiring stage::acquire(std::vector<std::shared_ptr<line>> lines, bool wait) {
    return {engine_, call_, std::move(lines), wait};
}

stage::queueing stage::queue(acquire_call& call) { return {engine_, call_, call, true}; }

stage::queueing stage::end(acquire_call& call) { return {engine_, call_, call, false}; }

void stage::leave_to(script_call::body what) { engine_.spawn(std::move(what)); }

void stage_wait::check_stop() const {
    if (call_.stopping) throw script_stopped{};
}

// --- asking ------------------------------------------------------------------------------------

stage::asking::asking(engine& on, script_call& call, seam::request what, base::instant deadline)
    : stage_wait{on, call}, inner_{std::move(what), call} {
    inner_.deadline = deadline;
    inner_.cleans_up = call.cleans_up;
}

stage::asking::asking(engine& on, script_call& call, known)
    : stage_wait{on, call}, inner_{seam::hello{}, call}, ready_{true} {}

void stage::asking::await_suspend(std::coroutine_handle<>) {
    suspend();
    if (confirms) {
        auto& watched = call_.its_stage->watch_of(*confirms);
        watched.asked = true;
        ++watched.askers;
    }
    began_ = engine_.now_;
    engine_.begin(inner_, engine_.now_);
}

seam::reply_body stage::asking::await_resume() {
    if (ready_) return seam::done{};
    if (!inner_.done) engine_.withdraw(inner_);
    if (confirms) --call_.its_stage->watch_of(*confirms).askers;
    check_stop();
    if (inner_.error) inner_.error.raise();
    call_.its_stage->sent_again_ =
        inner_.failures > 0 || engine_.now_ - began_ >= engine_.set_.request_timeout;
    if (confirms) call_.its_stage->watch_of(*confirms).confirmed = true;
    return std::move(inner_.answer.body);
}

// --- changing ----------------------------------------------------------------------------------

stage::changing::changing(engine& on, script_call& call, std::optional<seam::cell_key> key,
                          std::uint64_t seen, base::instant until)
    : stage_wait{on, call}, key_{std::move(key)}, seen_{seen}, until_{until} {}

void stage::changing::await_suspend(std::coroutine_handle<>) {
    suspend();
    auto* const its = key_ ? &call_.its_stage->watch_of(*key_) : nullptr;
    if (over(engine_.now_)) return call_.completed();
    if (its != nullptr) its->waiting.push_back(&call_);
    engine_.schedule(call_, until_);
}

bool stage::changing::over(base::instant now) const {
    return now >= until_ || (key_ && engine_.changes_of(*key_) != seen_);
}

bool stage::changing::await_resume() {
    engine_.schedule(call_, base::never);
    if (key_)
        if (auto const its = engine_.watches_.find(*key_); its != engine_.watches_.end())
            std::erase(its->second.waiting, &call_);
    check_stop();
    engine_.check_open();
    bool const changed = key_ && engine_.changes_of(*key_) != seen_;
    return changed || engine_.now_ < call_.deadline;
}

// --- acquiring ---------------------------------------------------------------------------------

stage::acquiring::acquiring(engine& on, script_call& call, std::vector<std::shared_ptr<line>> lines,
                            bool wait)
    : stage_wait{on, call} {
    for (auto& its : lines) {
        calls_.push_back(std::make_unique<acquire_call>(std::move(its), call));
        calls_.back()->wait = wait;
    }
}

void stage::acquiring::await_suspend(std::coroutine_handle<>) {
    suspend();
    for (auto const& it : calls_)
        engine_.begin(*it, engine_.now_, call_.deadline);
    if (calls_.empty()) call_.completed();
}

bool stage::acquiring::over(base::instant) const {
    return std::ranges::none_of(calls_,
                                [](auto const& it) { return it->outcome == verdict::pending; });
}

std::vector<std::unique_ptr<acquire_call>> stage::acquiring::await_resume() {
    if (call_.stopping) {
        for (auto const& it : calls_) {
            engine_.withdraw(*it, engine_.now_);
            if (it->held != nullptr) engine_.release(it->held, engine_.now_);
        }
        check_stop();
    }
    return std::move(calls_);
}

// --- queueing ----------------------------------------------------------------------------------

void stage::queueing::await_suspend(std::coroutine_handle<>) {
    suspend();
    if (begins_) engine_.begin(inner_, engine_.now_, call_.deadline);
}

bool stage::queueing::over(base::instant) const {
    return inner_.outcome != verdict::pending || (begins_ && inner_.in_line);
}

void stage::queueing::await_resume() {
    if (call_.stopping) {
        engine_.withdraw(inner_, engine_.now_);
        if (inner_.held != nullptr) engine_.release(inner_.held, engine_.now_);
        check_stop();
    }
    if (inner_.outcome == verdict::failed) inner_.error.raise();
}

}  // namespace holdfast::core
