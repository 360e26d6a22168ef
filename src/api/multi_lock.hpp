// The locks of one lock_all: which of them are held already, and which must be acquired.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <holdfast/lease.hpp>
#include <holdfast/multi_lock.hpp>

#include "api/lock_handle.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

class wanted_locks {
public:
    /// Throws for names given twice, locks of different clients, and a client that is not usable.
    explicit wanted_locks(handle_span handles);

    [[nodiscard]] std::shared_ptr<session> const& client() const noexcept {
        return parts_.front().handle->client();
    }
    /// The queues of those that are not held yet: a recursive mutex may be.
    [[nodiscard]] std::vector<std::shared_ptr<core::wait_queue>> queues() const;
    /// One lease over all; nothing when the holds are not all there.
    [[nodiscard]] std::optional<lease> as_lease(
        std::vector<std::shared_ptr<core::hold_state>> fresh);

private:
    struct part {
        std::shared_ptr<lock_handle> handle;
        std::shared_ptr<hold> held{};
    };
    std::vector<part> parts_;
};

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
