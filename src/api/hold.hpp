// The state behind a lease.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include <holdfast/lease.hpp>

#include "api/session.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

/// Thread-safety: all members may be called from any thread at once.
class hold {
public:
    /// `where` is given for a recursive hold, which counts there.
    hold(std::shared_ptr<session> client, std::shared_ptr<core::grant> grant,
         std::shared_ptr<site> where = {})
        : client_{std::move(client)}, grant_{std::move(grant)}, site_{std::move(where)} {}
    ~hold();
    hold(hold const&) = delete;
    hold& operator=(hold const&) = delete;

    [[nodiscard]] core::grant& grant() const noexcept { return *grant_; }
    [[nodiscard]] lease_state state() const noexcept;
    release_outcome release();
    /// The same with the answer by callback: `call` is completed by the engine; then `note` it.
    void release_with(core::release_call& call);
    void note(release_outcome outcome);
    lease_state renew(std::optional<std::chrono::milliseconds> lease);
    [[nodiscard]] std::shared_ptr<session> const& client() const noexcept { return client_; }

private:
    [[nodiscard]] bool last_of_recursion();

    std::shared_ptr<session> const client_;
    std::shared_ptr<core::grant> const grant_;
    std::shared_ptr<site> const site_;
    std::mutex releasing_;  // before mutex_
    mutable std::mutex mutex_;
    bool let_go_{false};
    std::optional<release_outcome> outcome_{};
};

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
