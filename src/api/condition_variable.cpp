#include <optional>
#include <utility>

#include <holdfast/condition_variable.hpp>

#include "api/lock_handle.hpp"
#include "api/synchronizers.hpp"
#include "base/error.hpp"

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
        core::make_terms(std::move(spec), client.with_defaults(options)));
}

/// One wait for a notice, in two steps with the release of the mutex between them.
class notice_wait {
public:
    notice_wait(condition_handle const& on, std::chrono::nanoseconds timeout, std::stop_token stop)
        : on_{on}, stop_{std::move(stop)}, self_{on.client->loop()}, call_{on.line(), self_} {
        call_.actor = this_thread();
        on_.client->loop().queue(call_, self_, timeout, stop_);
        check();
    }
    ~notice_wait() {
        if (call_.outcome == core::verdict::pending) on_.client->loop().withdraw(call_);
        if (call_.held != nullptr) on_.client->loop().consume_later(call_.held);
    }
    notice_wait(notice_wait const&) = delete;
    notice_wait& operator=(notice_wait const&) = delete;

    void finish() {
        on_.client->loop().finish(call_, self_, stop_);
        check();
    }

private:
    void check() const {
        if (call_.outcome == core::verdict::failed) call_.error.raise();
    }

    condition_handle const& on_;
    std::stop_token const stop_;
    runtime::waiter self_;
    core::acquire_call call_;
};

}  // namespace

condition_handle::condition_handle(std::shared_ptr<session> its, std::string_view name)
    : client{std::move(its)}, terms{condition_terms(*client, name)} {}

void condition_handle::notify(std::uint32_t most) {
    seam::adjust request{{terms->spec, {}, {}}};
    request.wake = most;
    auto const answer = client->ask(std::move(request));
    if (auto const* const no = std::get_if<seam::refused>(&answer.body))
        base::raise(errc::kind_mismatch, no->text);
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
    {
        std::optional<detail::notice_wait> waiting;
        try {
            if (timeout > std::chrono::nanoseconds::zero())
                waiting.emplace(*handle_, timeout, stop);
        } catch (std::system_error const& error) {
            // Time that is too short for an answer of the store, such as what a predicate's earlier
            // turns have left, is time that is over.
            bool const over = base::boot_clock::now() >= deadline;
            if (!over || error.code() != make_error_code(errc::store_unavailable)) throw;
        }
        // Without the mutex somebody may have given the notice before the waiter stood in the line.
        bool const sure = lock.mutex()->owns();
        lock.unlock();
        try {
            if (waiting && sure) waiting->finish();
        } catch (...) {
            failure = std::current_exception();
        }
    }
    lock.lock();
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
