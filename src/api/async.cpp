// Acquires and releases that end by callback: the ground of <holdfast/asio.hpp>.
#include <utility>

#include <holdfast/detail/async.hpp>
#include <holdfast/mutex.hpp>

#include "api/hold.hpp"
#include "api/lock_handle.hpp"
#include "base/error.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

namespace {

std::exception_ptr as_exception(base::error const& error) {
    return std::make_exception_ptr(std::system_error{error.code, error.text});
}

/// Keeps itself alive until its handler was called.
class acquiring final : public async_acquire,
                        public core::completion,
                        public std::enable_shared_from_this<acquiring> {
public:
    acquiring(std::shared_ptr<lock_handle> handle, handler then)
        : handle_{std::move(handle)}, then_{std::move(then)}, call_{handle_->line(), *this} {}

    void begin(std::optional<std::chrono::nanoseconds> timeout) {
        self_ = shared_from_this();
        call_.wait = !timeout || *timeout > std::chrono::nanoseconds::zero();
        call_.actor = this_thread();
        handle_->client()->loop().begin(call_, timeout && call_.wait ? *timeout : no_timeout);
    }

    void cancel() override {
        if (handle_->client()->at_home()) handle_->client()->loop().withdraw(call_);
    }

    void completed() noexcept override {
        handle_->client()->loop().post([self = std::move(self_)] { self->finish(); });
    }

private:
    void finish() {
        result out;
        out.cancelled = call_.outcome == core::verdict::stopped;
        if (call_.outcome == core::verdict::failed) out.error = as_exception(call_.error);
        if (call_.held != nullptr) out.held = handle_->as_lease(std::move(call_.held));
        std::exchange(then_, nullptr)(std::move(out));
    }

    std::shared_ptr<lock_handle> handle_;
    handler then_;
    core::acquire_call call_;
    std::shared_ptr<acquiring> self_{};
};

}  // namespace

async_acquire::~async_acquire() = default;

std::shared_ptr<async_acquire> async_acquire::start(basic_mutex& mutex,
                                                    std::optional<std::chrono::nanoseconds> timeout,
                                                    handler then) {
    auto const handle = mutex.shared_handle();
    handle->client()->require_usable();
    handle->require_no_thread();
    if (auto grant = handle->enter_again()) {
        result out;
        out.held = handle->as_nested_lease(std::move(grant));
        auto const shared = std::make_shared<result>(std::move(out));
        handle->client()->loop().post(
            [then = std::move(then), shared] { then(std::move(*shared)); });
        return nullptr;
    }
    auto out = std::make_shared<acquiring>(handle, std::move(then));
    out->begin(timeout);
    return out;
}

void start_release(lease held, std::function<void(std::exception_ptr, release_outcome)> then) {
    if (held.shared_state() == nullptr)
        base::raise(errc::bad_option, "an empty lease cannot be released");
    auto const hold = held.shared_state();
    hold->client().require_usable();
    hold->start_release(hold,
                        [then = std::move(then)](release_outcome how) { then(nullptr, how); });
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
