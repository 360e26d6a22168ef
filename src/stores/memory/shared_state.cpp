#include "stores/memory/shared_state.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <unistd.h>

#include "base/clock.hpp"

namespace holdfast::stores::memory {

seam::reply machine::handle(std::shared_ptr<seam::identity const> const& from,
                            seam::request const& what, seam::store_time now,
                            std::vector<lease::directed_notice>& notices) {
    now_ = std::max(now_, now);
    lease::rules rules{ledger_, now_, from, notices};
    seam::reply out{now_, rules.handle(what)};
    forget_overdue(rules);
    return out;
}

// Names that nobody touches any more would stay for ever. A request clears away more of them than it
// is likely to leave behind.
void machine::forget_overdue(lease::rules& rules) {
    constexpr int enough = 16;
    for (int cleared = 0; cleared < enough; ++cleared) {
        auto* const record = ledger_.overdue(now_);
        if (record == nullptr) return;
        rules.settle_time(*record);
        if (record->empty(now_)) {
            ledger_.erase(*record);
        } else {
            ledger_.look_after(*record, now_);
        }
    }
}

void mailbox::put(seam::notice what) {
    {
        base::lock_guard const guard{mutex_};
        notices_.push_back(std::move(what));
    }
    alarm_.ring();
}

void mailbox::interrupt() noexcept { alarm_.ring(); }

std::deque<seam::notice> mailbox::wait(base::instant until) {
    alarm_.wait(until);
    base::lock_guard const guard{mutex_};
    return std::exchange(notices_, {});
}

shared_state::shared_state() : machine_{static_cast<std::uint64_t>(base::wall_microseconds())} {}

std::shared_ptr<shared_state> shared_state::named(std::string const& name) {
    struct registry {
        pid_t const process = ::getpid();
        base::mutex mutex;
        std::shared_ptr<shared_state> const unnamed = std::make_shared<shared_state>();
        std::map<std::string, std::weak_ptr<shared_state>> named HOLDFAST_GUARDED_BY(mutex);
    };
    // Never destroyed: clients of static storage duration may outlive any other order. The child of
    // a fork begins with stores of its own: those of its parent are its parent's, locks included.
    static std::atomic<registry*> current{new registry};
    auto* found = current.load();
    while (found->process != ::getpid()) {
        auto* const fresh = new registry;
        if (current.compare_exchange_strong(found, fresh)) {
            found = fresh;
        } else {
            delete fresh;
        }
    }
    auto& all = *found;
    base::lock_guard const guard{all.mutex};
    if (name.empty()) return all.unnamed;
    std::erase_if(all.named, [](auto const& each) { return each.second.expired(); });
    auto& known = all.named[name];
    auto out = known.lock();
    if (out == nullptr) known = out = std::make_shared<shared_state>();
    return out;
}

seam::reply shared_state::handle(std::shared_ptr<seam::identity const> const& from,
                                 seam::request const& what) {
    auto const now = seam::store_time{std::chrono::duration_cast<std::chrono::microseconds>(
        base::boot_clock::now().time_since_epoch())};
    base::lock_guard const guard{mutex_};
    auto out = machine_.handle(from, what, now, notices_);
    for (auto& [to, notice] : notices_) {
        if (auto const box = boxes_.find(to); box != boxes_.end())
            box->second->put(std::move(notice));
    }
    notices_.clear();
    return out;
}

void shared_state::join(seam::client_id client, std::shared_ptr<mailbox> box) {
    base::lock_guard const guard{mutex_};
    boxes_.emplace(client, std::move(box));
}

void shared_state::leave(seam::client_id client) {
    base::lock_guard const guard{mutex_};
    boxes_.erase(client);
    machine_.forget(client);
}

}  // namespace holdfast::stores::memory
