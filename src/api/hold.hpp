// The state behind a lease: one hold, or several that are held together.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/detail/async.hpp>
#include <holdfast/lease.hpp>

#include "api/session.hpp"
#include "base/mutex.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

class single_hold;

/// Thread-safety: all members may be called from any thread at once. The destructor enqueues the
/// release.
class hold {
public:
    hold() = default;
    hold(hold const&) = delete;
    hold& operator=(hold const&) = delete;
    virtual ~hold() = default;

    [[nodiscard]] virtual std::string const& name() const noexcept = 0;
    [[nodiscard]] virtual std::uint64_t token() const noexcept = 0;
    /// Nothing when the name is not held by it.
    [[nodiscard]] virtual std::optional<std::uint64_t> token(std::string_view name) const = 0;
    [[nodiscard]] virtual std::stop_token lost() = 0;
    [[nodiscard]] virtual std::string loss_reason() const = 0;
    [[nodiscard]] virtual lease_state state() const noexcept = 0;
    [[nodiscard]] virtual base::instant lost_at() const noexcept = 0;
    virtual release_outcome release() = 0;
    virtual lease_state renew(std::optional<std::chrono::milliseconds> lease) = 0;
    /// Begins the release. `self` goes with the result.
    virtual void start_release(std::shared_ptr<hold> self, release_handler then) = 0;
    [[nodiscard]] virtual session& client() const noexcept = 0;
    /// Itself, when it is one hold.
    [[nodiscard]] virtual single_hold* single() noexcept { return nullptr; }
};

class single_hold final : public hold {
public:
    /// `where` is given for a recursive hold, which counts there.
    single_hold(std::shared_ptr<session> client, std::shared_ptr<core::hold_state> held,
                std::shared_ptr<holder_table> where = {})
        : client_{std::move(client)}, held_{std::move(held)}, holders_{std::move(where)} {}
    ~single_hold() override;

    [[nodiscard]] core::hold_state& held() const noexcept { return *held_; }
    /// Whether it is a hold of a recursion, which others of its thread or owner may enter.
    [[nodiscard]] bool is_counted() const noexcept { return holders_ != nullptr; }
    /// Leaves the release to the caller; nothing when it was released before, or is held on by others
    /// of the same recursion.
    [[nodiscard]] std::shared_ptr<core::hold_state> give_up();

    [[nodiscard]] std::string const& name() const noexcept override;
    [[nodiscard]] std::uint64_t token() const noexcept override { return held_->token(); }
    [[nodiscard]] std::optional<std::uint64_t> token(std::string_view name) const override;
    [[nodiscard]] std::stop_token lost() override;
    [[nodiscard]] std::string loss_reason() const override;
    [[nodiscard]] lease_state state() const noexcept override;
    [[nodiscard]] base::instant lost_at() const noexcept override { return held_->lost_at(); }
    release_outcome release() override;
    lease_state renew(std::optional<std::chrono::milliseconds> lease) override;
    void start_release(std::shared_ptr<hold> self, release_handler then) override;
    [[nodiscard]] session& client() const noexcept override { return *client_; }
    [[nodiscard]] single_hold* single() noexcept override { return this; }

private:
    class releasing;
    static constexpr int unknown_yet = -1;
    [[nodiscard]] std::optional<release_outcome> known() const noexcept;
    /// Leaves the recursion, for whoever asks first: then true. Sets `is_last_`.
    bool let_go();
    [[nodiscard]] release_outcome outcome_for_nested() const noexcept;
    release_outcome note(release_outcome outcome);

    std::shared_ptr<session> const client_;
    std::shared_ptr<core::hold_state> const held_;
    std::shared_ptr<holder_table> const holders_;
    std::once_flag left_;
    bool is_last_{false};  ///< the hold itself is to be released; after `let_go`
    std::atomic<int> outcome_{unknown_yet};
};

/// Several holds as one: lost when one of them is, released when all are.
class group_hold final : public hold {
public:
    /// At least one; all of one client.
    explicit group_hold(std::vector<std::shared_ptr<hold>> parts);

    [[nodiscard]] std::string const& name() const noexcept override;
    [[nodiscard]] std::uint64_t token() const noexcept override;
    [[nodiscard]] std::optional<std::uint64_t> token(std::string_view name) const override;
    [[nodiscard]] std::stop_token lost() override;
    [[nodiscard]] std::string loss_reason() const override;
    [[nodiscard]] lease_state state() const noexcept override;
    [[nodiscard]] base::instant lost_at() const noexcept override;
    release_outcome release() override;
    lease_state renew(std::optional<std::chrono::milliseconds> lease) override;
    void start_release(std::shared_ptr<hold> self, release_handler then) override;
    [[nodiscard]] session& client() const noexcept override { return parts_.front()->client(); }

private:
    using callback = std::stop_callback<std::function<void()>>;

    std::vector<std::shared_ptr<hold>> const parts_;
    base::mutex mutex_;
    std::stop_source lost_ HOLDFAST_GUARDED_BY(mutex_){std::nostopstate};
    std::shared_ptr<std::atomic<bool>> const let_go_{std::make_shared<std::atomic<bool>>(false)};
    std::vector<std::unique_ptr<callback>> watches_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
