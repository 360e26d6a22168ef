// Operations that end by callback: the ground of <holdfast/asio.hpp>.
#include <utility>
#include <vector>

#include <holdfast/detail/async.hpp>

#include "api/hold.hpp"
#include "api/multi_lock.hpp"
#include "api/permit_pool.hpp"
#include "api/refusals.hpp"
#include "api/synchronizers.hpp"
#include "base/error.hpp"
#include "core/barrier.hpp"
#include "core/collecting.hpp"
#include "core/condition.hpp"
#include "core/latch.hpp"
#include "core/task_context.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

namespace {

using make_lease = std::function<lease(std::shared_ptr<core::hold_state>)>;

// What could not be begun has no handler to wait for.
template <class Self, class Begin>
void begin_or_let_go(Self& kept, Begin begin) {
    try {
        begin();
    } catch (...) {
        kept.reset();
        throw;
    }
}

/// One acquire. Keeps itself alive until its handler was called.
class acquiring final : public async_task,
                        public core::completion,
                        public std::enable_shared_from_this<acquiring> {
public:
    acquiring(std::shared_ptr<session> client, std::shared_ptr<core::wait_queue> queue,
              make_lease make, lease_handler then)
        : client_{std::move(client)},
          make_{std::move(make)},
          then_{std::move(then)},
          call_{std::move(queue), *this} {}

    void begin(timeout_option timeout) {
        self_ = shared_from_this();
        may_be_busy_ = timeout.has_value();
        call_.wait = !timeout || *timeout > std::chrono::nanoseconds::zero();
        call_.actor = this_thread();
        begin_or_let_go(self_, [&] {
            client_->loop().begin(call_, timeout && call_.wait ? *timeout : no_timeout);
        });
    }

    void cancel() override {
        if (client_->at_home()) client_->loop().withdraw(call_);
    }

    void completed() noexcept override {
        client_->loop().post([self = std::move(self_)]() mutable { finish(std::move(self)); },
                             then_.anywhere);
    }

private:
    static void finish(std::shared_ptr<acquiring> self) {
        lease_result out{.cancelled = self->call_.outcome == core::verdict::stopped};
        if (self->call_.outcome == core::verdict::failed)
            out.error = std::make_exception_ptr(self->call_.error.as_exception());
        if (self->call_.outcome == core::verdict::busy && !self->may_be_busy_)
            out.error = std::make_exception_ptr(
                policy_ended("'" + self->call_.in->terms->spec->name + "'").as_exception());
        if (self->call_.held != nullptr) out.value = self->make_(std::move(self->call_.held));
        auto const then = std::move(self->then_);
        out.origin = std::move(self);
        then(std::move(out));
    }

    std::shared_ptr<session> const client_;
    make_lease const make_;
    lease_handler then_;
    bool may_be_busy_{false};
    core::acquire_call call_;
    std::shared_ptr<acquiring> self_{};
};

/// One task with the state that it works on. Keeps itself alive until its handler was called.
template <class State>
class running final : public async_task,
                      public core::completion,
                      public std::enable_shared_from_this<running<State>> {
public:
    using body = std::function<core::task(core::task_context&, State&)>;
    using ending = std::function<void(std::exception_ptr, bool cancelled, State&)>;

    running(std::shared_ptr<session> client, State state, body what, ending then)
        : client_{std::move(client)},
          state_{std::move(state)},
          then_{std::move(then)},
          call_{[this, what = std::move(what)](core::task_context& on) { return what(on, state_); },
                *this} {}

    void begin(timeout_option timeout) {
        self_ = this->shared_from_this();
        if (timeout) call_.deadline = base::after(base::boot_clock::now(), *timeout);
        begin_or_let_go(self_, [this] { client_->loop().begin(call_); });
    }

    void cancel() override {
        if (client_->at_home()) client_->loop().stop(call_);
    }

    void completed() noexcept override {
        client_->loop().post([self = std::move(self_)] {
            std::exchange(self->then_, nullptr)(self->call_.error, self->call_.stopped,
                                                self->state_);
        });
    }

private:
    std::shared_ptr<session> const client_;
    State state_;
    ending then_;
    core::task_call call_;
    std::shared_ptr<running> self_{};
};

template <class State>
task_ptr run_script(std::shared_ptr<session> const& client, timeout_option timeout, State state,
                    typename running<State>::body what, typename running<State>::ending then) {
    client->require_usable();
    auto out = std::make_shared<running<State>>(client, std::move(state), std::move(what),
                                                std::move(then));
    out->begin(timeout);
    return out;
}

task_ptr start_on(std::shared_ptr<session> const& client, std::shared_ptr<core::wait_queue> queue,
                  timeout_option timeout, make_lease make, lease_handler then) {
    client->require_usable();
    auto out =
        std::make_shared<acquiring>(client, std::move(queue), std::move(make), std::move(then));
    out->begin(timeout);
    return out;
}

}  // namespace

async_task::~async_task() = default;

task_ptr start_acquire(lock_handle_ptr const& lock, timeout_option timeout, lease_handler then) {
    lock->client()->require_usable();
    lock->require_no_thread();
    if (auto held = lock->enter_again()) {
        auto const out = std::make_shared<lease_result>();
        out->value = lock->as_nested_lease(std::move(held));
        lock->client()->loop().post_or_run(
            [then = std::move(then), out] { then(std::move(*out)); });
        return nullptr;
    }
    return start_on(
        lock->client(), lock->queue(), timeout,
        [lock](std::shared_ptr<core::hold_state> held) { return lock->as_lease(std::move(held)); },
        std::move(then));
}

task_ptr start_acquire(permit_pool_ptr const& from, std::uint32_t n, timeout_option timeout,
                       lease_handler then) {
    return start_on(
        from->client(), from->queue(n), timeout,
        [client = from->client()](std::shared_ptr<core::hold_state> held) {
            return detail::access::make_lease(
                std::make_shared<single_hold>(client, std::move(held)));
        },
        std::move(then));
}

task_ptr start_campaign(election_ptr const& in, std::string_view value, lease_handler then) {
    return start_on(
        in->client, in->queue(value), std::nullopt,
        [in](std::shared_ptr<core::hold_state> held) { return in->as_lease(std::move(held)); },
        std::move(then));
}

task_ptr start_acquire_all(std::span<lock_handle_ptr const> locks, timeout_option timeout,
                           lease_handler then) {
    for (auto const& each : locks)
        each->require_no_thread();
    struct state {
        std::shared_ptr<wanted_locks> wanted;
        std::vector<std::shared_ptr<core::hold_state>> fresh{};
    };
    auto const wanted = std::make_shared<wanted_locks>(locks);
    bool const wait = !timeout || *timeout > std::chrono::nanoseconds::zero();
    return run_script<state>(
        wanted->client(), wait ? timeout : std::nullopt, {wanted},
        [wait](core::task_context& on, state& progress) {
            return core::acquire_all(on, progress.wanted->queues(), wait, progress.fresh);
        },
        [then = std::move(then), may_be_busy = timeout.has_value()](
            std::exception_ptr error, bool cancelled, state& progress) {
            auto got = progress.wanted->as_lease(std::move(progress.fresh));
            if (!got && !error && !cancelled && !may_be_busy)
                error = std::make_exception_ptr(policy_ended("all locks").as_exception());
            then({error, cancelled, std::move(got)});
        });
}

task_ptr start_wait(condition_ptr const& on, lock_handle_ptr const& mutex, lease held,
                    lease_handler then) {
    on->client->require_usable();
    auto* const single =
        detail::access::state(held) ? detail::access::state(held)->single() : nullptr;
    if (single == nullptr || &single->client() != on->client.get() ||
        mutex->client() != on->client || single->name() != mutex->name() || !held.held())
        base::raise(errc::not_owner,
                    "waiting needs the lease of its mutex, of the same client as the condition");
    struct state {
        std::shared_ptr<core::hold_state> mutex;
        std::shared_ptr<core::hold_state> again{};
    };
    state begun{single->give_up()};
    if (begun.mutex == nullptr)
        base::raise(errc::bad_option, "a mutex that is held recursively cannot be waited with");
    return run_script<state>(
        on->client, std::nullopt, std::move(begun),
        [on, mutex](core::task_context& where, state& progress) {
            return core::wait_for_notice(where, on->queue(), progress.mutex, mutex->queue(),
                                         progress.again);
        },
        [mutex, then = std::move(then)](std::exception_ptr error, bool cancelled, state& progress) {
            lease_result out{error, cancelled, std::nullopt};
            if (progress.again != nullptr) out.value = mutex->as_lease(std::move(progress.again));
            then(std::move(out));
        });
}

task_ptr start_notify(condition_ptr const& on, std::uint32_t most, number_handler then) {
    return run_script<int>(
        on->client, std::nullopt, 0,
        [on, most](core::task_context& where, int&) {
            return core::notify_condition(where, on->terms->spec, most);
        },
        [then = std::move(then)](std::exception_ptr error, bool cancelled, int&) {
            then({error, cancelled, 0});
        });
}

task_ptr start_count_down(latch_ptr const& of, std::uint32_t n, number_handler then) {
    return run_script<std::uint32_t>(
        of->client, std::nullopt, 0,
        [of, n](core::task_context& on, std::uint32_t& left) {
            return core::count_down_latch(on, of->terms(), n, left);
        },
        [then = std::move(then)](std::exception_ptr error, bool cancelled, std::uint32_t& left) {
            then({error, cancelled, left});
        });
}

task_ptr start_wait(latch_ptr const& for_it, timeout_option timeout, number_handler then) {
    bool const wait = !timeout || *timeout > std::chrono::nanoseconds::zero();
    return run_script<bool>(
        for_it->client, wait ? timeout : std::nullopt, false,
        [for_it, wait](core::task_context& on, bool& finished) {
            return core::wait_for_latch(on, for_it->terms(), finished, wait);
        },
        [then = std::move(then)](std::exception_ptr error, bool cancelled, bool& finished) {
            then({error, cancelled, finished ? std::optional<std::uint64_t>{0} : std::nullopt});
        });
}

task_ptr start_arrive(barrier_ptr const& at, timeout_option timeout, number_handler then) {
    using generation = std::optional<std::uint64_t>;
    return run_script<generation>(
        at->client, timeout, std::nullopt,
        [at](core::task_context& on, generation& out) {
            return core::arrive_at_barrier(on, at->terms, out);
        },
        [then = std::move(then)](std::exception_ptr error, bool cancelled, generation& out) {
            then({error, cancelled, out});
        });
}

void start_release(lease held, release_handler then) {
    auto const hold = detail::access::state(held);
    if (hold == nullptr) base::raise(errc::bad_option, "an empty lease cannot be released");
    hold->client().require_usable();
    hold->start_release(hold, std::move(then));
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
