#include "runtime/engine_runner.hpp"

#include <algorithm>
#include <exception>

namespace holdfast::runtime {

using base::boot_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

engine_runner::engine_runner(make_store const& make, core::engine::settings settings,
                             log_function log)
    : store_{make(*this)},
      engine_{[&] {
          settings.abilities = store_->abilities();
          if (settings.abilities.lanes)
              settings.lane_of = [this](std::string_view name) { return store_->lane_of(name); };
          return settings;
      }()},
      biased_{engine_.abilities().parks},
      prompt_{engine_.abilities().prompt},
      log_{std::move(log)},
      driver_{*store_},
      sender_{*store_, engine_},
      threads_{mutex, {[this] { return tell_time(); }, [this] { perform_io(); }}},
      fork_watch_{std::make_unique<fork_watch>(*store_)} {}

// --- what comes of an event --------------------------------------------------------------------

void engine_runner::post(notifier::job what, bool anywhere) {
    mutex.assert_held();
    (anywhere && driver_feeds_ ? drivers_jobs_ : jobs_).push_back(std::move(what));
}

std::vector<notifier::job> engine_runner::post_at_once(notifier::job what) {
    std::vector<notifier::job> one;
    one.push_back(std::move(what));
    threads_.post(one);
    return one;
}

// A policy that throws has nothing more to say: the acquire ends as if it had returned nothing.
std::optional<milliseconds> engine_runner::ask_policy(core::engine::question const& what) {
    try {
        return what.policy_of->retry(what.about);
    } catch (std::exception const& why) {
        log_(log_level::error, std::string{"a retry policy threw: "} + why.what());
    } catch (...) {
        log_(log_level::error, "a retry policy threw");
    }
    return std::nullopt;
}

void engine_runner::answer_retry(core::engine::question const& what) {
    auto const delay = ask_policy(what);
    base::lock_guard const guard{mutex};
    feed([&](core::engine& engine, base::instant now) {
        engine.answer_retry(what.ticket, delay, now);
    });
}

void engine_runner::hand_out() {
    auto& todo = engine_.todo();
    std::vector<notifier::job> losses;  // first: what comes after may be somebody else's grant
    for (auto& held : todo.losses)
        losses.push_back([held = std::move(held)] { held->announce_loss(); });
    if (!losses.empty()) threads_.post_losses(losses);
    for (auto& question : todo.questions)
        post([this, question = std::move(question)] { answer_retry(question); });
    for (auto& words : todo.warnings)
        log_(log_level::warning, std::move(words));
    for (auto& job : todo.jobs)
        post(std::move(job));
    todo.losses.clear();
    todo.jobs.clear();
    todo.questions.clear();
    todo.warnings.clear();
    if (!jobs_.empty()) threads_.post(jobs_);
}

void engine_runner::tell_closer() {
    if (closer_ != nullptr && engine_.idle()) driver_.wake(*closer_);
}

void engine_runner::after_event() {
    hand_out();
    tell_closer();
    threads_.tell_time_by(engine_.next_due());
}

// What comes of these is handed out when the store has told all it has, which a store that does not
// block does at once: see `wait`.
void engine_runner::on_reply(seam::request_id id, seam::reply answer) {
    base::lock_guard const guard{mutex};
    driver_feeds_ = prompt_;
    engine()->on_reply(id, answer, boot_clock::now());
    driver_feeds_ = false;
    if (!prompt_) after_event();
}

void engine_runner::on_notice(seam::notice what) {
    base::lock_guard const guard{mutex};
    driver_feeds_ = prompt_;
    engine()->on_notice(what, boot_clock::now());
    driver_feeds_ = false;
    if (!prompt_) after_event();
}

// Losses are on their way before anybody learns that he holds.
void engine_runner::after_drive() {
    after_event();
    if (drivers_jobs_.empty()) return;
    auto mine = std::exchange(drivers_jobs_, {});
    driver_.finish(mutex, [&] { notifier::run_here(std::move(mine)); });
}

// --- who sends, who waits ----------------------------------------------------------------------

// For requests that nobody waits for: the calling thread must not wait for the store either.
void engine_runner::send_in_background(base::instant now) {
    if (!sender_.has_work()) return;
    if (!sender_.is_instant()) threads_.try_to_start();  // somebody must read the answer
    if (!sender_.send_at_once(mutex, now)) driver_.wake_io_thread();
}

void engine_runner::send_own(waiter const& self) {
    sender_.send_until(mutex, self.done);
    leave_rest();
}

// A caller whose own call is done leaves the rest to the next one.
void engine_runner::leave_rest() {
    if (!sender_.has_work() || sender_.send_at_once(mutex, boot_clock::now())) return;
    if (driver_.wake_one()) return;
    threads_.try_to_start();
    driver_.wake_io_thread();
}

void engine_runner::wait(waiter& self, base::instant until) {
    after_event();
    if (driver_.wait(mutex, self, until)) after_drive();
}

base::instant engine_runner::tell_time() {
    mutex.assert_held();
    auto const now = boot_clock::now();
    engine()->on_time(now);
    if (sender_.is_instant()) sender_.send_instantly(now);
    hand_out();
    tell_closer();
    if (!engine_.todo().requests.empty()) driver_.wake_io_thread();
    return engine_.next_due();
}

void engine_runner::perform_io() {
    mutex.assert_held();
    sender_.send_all(mutex);
    after_event();
    if (threads_.stopping() || sender_.has_work()) return;
    if (driver_.io_thread_turn(mutex)) after_drive();
}

// --- the end -----------------------------------------------------------------------------------

void engine_runner::close(nanoseconds patience) noexcept {
    auto const end = base::after(boot_clock::now(), patience);
    {
        base::lock_guard const guard{mutex};
        if (std::exchange(closing_, true)) return;
        auto const now = boot_clock::now();
        engine()->close(now);
        if (sender_.is_instant()) sender_.send_instantly(now);
        waiter self{driver_};
        closer_ = &self;
        wait_until_done(self, end, [](core::engine const& engine) { return !engine.idle(); });
        closer_ = nullptr;
        engine()->end_releases(boot_clock::now());
        after_event();
        sender_.stop();
        threads_.stop();
        driver_.dismiss();
    }
    threads_.join();
    {
        // A caller whose call has ended may still be on its way out of the store, which must not be shut
        // under it. What cleans up behind a caller has a deadline of its own, for which nobody waits here.
        constexpr std::chrono::seconds a_moment{1};  // also when the patience is used up
        base::lock_guard const guard{mutex};
        driver_.await_nobody(mutex, std::max<nanoseconds>(end - boot_clock::now(), a_moment));
    }
    threads_.stop_notifiers();
    fork_watch_.reset();
    store_->flush();  // what nobody has driven for
    store_->shut();
}

}  // namespace holdfast::runtime
