#include <coroutine>
#include <exception>
#include <utility>

#include <holdfast/condition_variable.hpp>

#include "api/lock_handle.hpp"
#include "api/synchronizers.hpp"
#include "base/error.hpp"
#include "core/condition.hpp"

namespace holdfast {
inline namespace v1 {

namespace detail {

namespace {

core::terms_ptr condition_terms(session const& client, std::string_view name) {
    seam::claim_spec spec{.name = checked_name(name)};
    spec.kind = lock_kind::condition;
    spec.mode = claim_mode::permits;
    lock_options options;
    options.order = ordering::fair;
    return std::make_shared<core::terms const>(
        core::make_terms(std::move(spec), client.with_defaults(options), client.longest_lease()));
}

/// One wait for a notice by a thread that blocks: the steps of core::wait_in_steps. The mutex may be of another client
/// than the condition. Its last step, to lock the mutex again, is the caller's: it has to be done after a failure
/// too.
class blocking_wait {
public:
    blocking_wait(condition_handle const& on, std::unique_lock<mutex>& lock, base::instant deadline,
                  std::stop_token stop)
        : on_{on},
          lock_{lock},
          deadline_{deadline},
          stop_{std::move(stop)},
          self_{on.client->loop()},
          call_{on.queue(), self_} {
        call_.actor = this_thread();
    }
    ~blocking_wait() {
        give_up();
        consume_notice();
    }
    blocking_wait(blocking_wait const&) = delete;
    blocking_wait& operator=(blocking_wait const&) = delete;

    void run() {
        auto const body = core::wait_in_steps(steps{*this});
        body.resume();
        if (body.error() != nullptr) std::rethrow_exception(body.error());
    }

private:
    /// Each step is done when it returns.
    struct steps {
        blocking_wait& wait;

        [[nodiscard]] std::suspend_never stand_in_line() const {
            wait.stand_in_line();
            return {};
        }
        [[nodiscard]] bool release_mutex() const { return wait.release_mutex(); }
        [[nodiscard]] std::suspend_never await_notice() const {
            wait.await_notice();
            return {};
        }
        void give_up() const { wait.give_up(); }
        void consume_notice() const { wait.consume_notice(); }
        [[nodiscard]] std::suspend_never lock_mutex() const { return {}; }
    };

    void stand_in_line() {
        auto const left = deadline_ - base::boot_clock::now();
        if (left <= std::chrono::nanoseconds::zero()) return;
        in_line_ = on_.client->loop().queue(call_, self_,
                                            deadline_ == base::never ? no_timeout : left, stop_);
        if (in_line_ || call_.outcome != core::verdict::failed) return;
        // Time that is too short for an answer of the store, such as what a predicate's earlier turns
        // have left, is time that is over.
        bool const over = base::boot_clock::now() >= deadline_;
        if (!over || call_.error.code != make_error_code(errc::store_unavailable))
            call_.error.raise();
    }
    bool release_mutex() {
        bool const was_held = lock_.mutex()->owns();
        lock_.unlock();
        return was_held;
    }
    void await_notice() {
        if (!std::exchange(in_line_, false)) return;
        on_.client->loop().finish(call_, self_, stop_);
        if (call_.outcome == core::verdict::failed) call_.error.raise();
    }
    void give_up() {
        if (std::exchange(in_line_, false)) on_.client->loop().withdraw(call_);
    }
    void consume_notice() {
        if (auto const notice = std::exchange(call_.held, nullptr); notice != nullptr)
            on_.client->loop().consume_later(notice);
    }

    condition_handle const& on_;
    std::unique_lock<mutex>& lock_;
    base::instant const deadline_;
    std::stop_token const stop_;
    runtime::waiter self_;
    core::acquire_call call_;
    bool in_line_{false};  ///< the call is the engine's
};

}  // namespace

condition_handle::condition_handle(std::shared_ptr<session> whose, std::string_view name)
    : client{std::move(whose)}, terms{condition_terms(*client, name)} {}

void condition_handle::notify(std::uint32_t most) {
    core::check_notified(client->ask(core::notify_request(terms->spec, most)).body);
}

}  // namespace detail

condition_variable::condition_variable(client const& client, std::string_view name)
    : handle_{std::make_shared<detail::condition_handle>(detail::access::state(client), name)} {}

condition_variable::~condition_variable() = default;

void condition_variable::wait(std::unique_lock<mutex>& lock) {
    (void)wait_within(lock, detail::no_timeout, std::stop_token{});
}

std::cv_status condition_variable::wait_within(std::unique_lock<mutex>& lock,
                                               std::chrono::nanoseconds timeout,
                                               std::stop_token const& stop) {
    handle_->client->require_usable();
    if (!lock.owns_lock() || !lock.mutex()->owns())
        base::raise(errc::not_owner, "waiting for '" + name() + "' needs the mutex locked");
    auto const deadline = base::after(base::boot_clock::now(), timeout);
    std::exception_ptr failure;
    try {
        detail::blocking_wait(*handle_, lock, deadline, stop).run();
    } catch (...) {
        failure = std::current_exception();
    }
    if (!lock.owns_lock()) lock.lock();  // who could not stand in line has it still
    if (failure != nullptr) std::rethrow_exception(failure);
    return base::boot_clock::now() < deadline ? std::cv_status::no_timeout
                                              : std::cv_status::timeout;
}

bool condition_variable::wait_within(std::unique_lock<mutex>& lock,
                                     std::chrono::nanoseconds timeout,
                                     std::function<bool()> const& pred) {
    auto const deadline = base::after(base::boot_clock::now(), timeout);
    while (!pred()) {
        auto const left = deadline - base::boot_clock::now();
        if (left <= std::chrono::nanoseconds::zero()) return false;
        (void)wait_within(lock, left, std::stop_token{});
    }
    return true;
}

void condition_variable::notify_one() { handle_->notify(1); }

void condition_variable::notify_all() { handle_->notify(UINT32_MAX); }

std::string const& condition_variable::name() const noexcept { return handle_->terms->spec->name; }

std::shared_ptr<detail::condition_handle> const& condition_variable::shared_handle()
    const noexcept {
    return handle_;
}

}  // namespace v1
}  // namespace holdfast
