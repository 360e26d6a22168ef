// The engine's part that runs scripts and tells them of changes.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"
#include "core/refusals.hpp"
#include "core/stage.hpp"

namespace holdfast::core {

script_call::script_call(body its, completion& whom)
    : timed{kind::script}, begin{std::move(its)}, to{&whom} {}

script_call::~script_call() = default;

void script_call::completed() noexcept {
    if (on != nullptr) on->wake(*this);
}

namespace {

/// A script that nobody waits for: its end is all that is asked of it.
class nobody final : public completion {
public:
    void completed() noexcept override {}
};

nobody nobodys;

}  // namespace

engine::turn::turn(engine& of, base::instant now) noexcept : of_{of} {
    of_.now_ = std::max(of_.now_, now);
    ++of_.depth_;
}

engine::turn::~turn() {
    if (of_.depth_ == 1) of_.run_ready();
    --of_.depth_;
}

void engine::begin(script_call& call, base::instant now) {
    turn const at{*this, now};
    call.on = this;
    scripts_.push_back(call);
    if (closed_ && !call.cleans_up) {
        call.error = std::make_exception_ptr(closed_client().as_exception());
        return end(call);
    }
    call.its_stage = std::make_unique<stage>(*this, call);
    call.running = call.begin(*call.its_stage);
    wake(call);
}

void engine::stop(script_call& call, base::instant now) {
    turn const at{*this, now};
    if (call.done) return;
    call.stopping = true;
    wake(call);
}

void engine::spawn(script_call::body what) {
    auto& call = spawned_.emplace_back(std::make_unique<script_call>(std::move(what), nobodys));
    call->cleans_up = true;
    begin(*call, now_);
}

void engine::wake(script_call& call) noexcept {
    if (call.done || std::exchange(call.woken, true)) return;
    ready_.push_back(&call);
}

// Scripts run only from here, never inside another function of the engine.
void engine::run_ready() {
    for (std::size_t i = 0; i < ready_.size(); ++i) {  // the list grows while it is read
        if (ready_[i] == nullptr) continue;
        auto& call = *ready_[i];
        call.woken = false;
        bool const goes_on = call.waits_for == nullptr || call.stopping ||
                             (closed_ && !call.cleans_up) || call.waits_for->over(now_);
        if (!goes_on) continue;
        call.waits_for = nullptr;
        call.running.resume();
        if (call.running.done()) end(call);
    }
    ready_.clear();
    std::erase_if(spawned_, [](auto const& it) { return it->done; });
}

void engine::end(script_call& call) {
    schedule(call, base::never);
    if (call.woken) std::ranges::replace(ready_, &call, nullptr);  // it is gone when this returns
    scripts_.erase(scripts_.iterator_to(call));
    if (call.error == nullptr && !closed_at_start(call)) call.error = call.running.error();
    try {
        if (call.error != nullptr) std::rethrow_exception(call.error);
    } catch (script_stopped const&) {
        call.error = nullptr;
        call.stopped = true;
    } catch (...) {  // the caller throws it again
        ++metrics_.failures;
    }
    call.running = {};
    call.its_stage.reset();
    call.done = true;
    call.to->completed();
}

bool engine::closed_at_start(script_call const& call) noexcept { return call.its_stage == nullptr; }

void engine::check_open() const {
    if (closed_) closed_client().raise();
}

void engine::close_scripts() {
    for (auto& call : scripts_)
        wake(call);
}

// --- watches -----------------------------------------------------------------------------------

std::uint64_t engine::changes_of(seam::cell_key const& key) const {
    auto const found = watches_.find(key);
    return found == watches_.end() ? 0 : found->second.changes;
}

void engine::unwatch(seam::cell_key const& key, base::instant now) {
    turn const at{*this, now};
    auto const found = watches_.find(key);
    if (found == watches_.end() || !found->second.waiting.empty()) return;
    if (found->second.askers > 0) return;  // whose watch would be taken back
    if (found->second.asked && !closed_) send(purpose::watch, seam::unwatch{key}, 0, now);
    watches_.erase(found);
}

void engine::tell_scripts(seam::cell_key const& key) {
    auto const found = watches_.find(key);
    if (found == watches_.end()) return;
    ++found->second.changes;
    for (auto* const call : found->second.waiting)
        wake(*call);
}

// Notices may have been missed, and watches forgotten: every script looks again, and asks anew.
void engine::renew_watches() {
    for (auto& [key, its] : watches_) {
        its.confirmed = false;
        ++its.changes;
        for (auto* const call : its.waiting)
            wake(*call);
    }
}

}  // namespace holdfast::core
