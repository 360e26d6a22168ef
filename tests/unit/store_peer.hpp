// One client of a store that is driven through the seam, without the core.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "seam/store.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;

/// Long enough for any machine; nothing that works waits for it.
inline constexpr auto long_enough = 20s;

/// One client with its store. It drives the store itself.
/// Thread-safety: `submit`, `settle` and the like from any thread as long as the store answers them on
/// the spot; the rest by one thread.
class store_peer : seam::event_sink {
public:
    [[nodiscard]] static seam::spec_ptr spec(seam::claim_spec its) {
        return std::make_shared<seam::claim_spec const>(std::move(its));
    }
    [[nodiscard]] seam::claim claim(seam::spec_ptr its) { return {std::move(its), {id_, ++last_}}; }
    [[nodiscard]] seam::claim claim(std::string name) {
        return claim(spec({.name = std::move(name)}));
    }

    /// Begins a request without waiting for its reply.
    seam::request_id begin(seam::request what) {
        seam::request_id const id{++last_request_};
        if (auto answer = store_->send(id, std::move(what))) replies_.emplace(id, *answer);
        return id;
    }
    /// Drives until the reply is there.
    seam::reply await(seam::request_id id) {
        auto const end = base::boot_clock::now() + long_enough;
        while (!replies_.contains(id) && base::boot_clock::now() < end)
            store_->drive(end);
        auto const found = replies_.find(id);
        if (found == replies_.end())
            return {{}, seam::failure{{errc::timed_out, "the store never replied"}}};
        auto out = std::move(found->second);
        replies_.erase(found);
        return out;
    }
    seam::reply send(seam::request what) {
        seam::request_id const id{++last_request_};
        if (auto answer = store_->send(id, std::move(what))) return *std::move(answer);
        return await(id);
    }

    seam::reply submit(seam::claim const& wanted, bool queue = false) {
        return send(seam::submit{{wanted}, queue, seam::store_time::max()});
    }
    seam::ending settle(seam::claim const& its) {
        return std::get<seam::settled>(send(seam::settle{{its}}).body).how;
    }
    seam::renewal renew(seam::claim const& its, std::chrono::milliseconds lease = 30s) {
        return std::get<seam::renewed>(send(seam::renew{{{its, lease}}}).body).items.front();
    }

    /// Drives until a notice of this sort came, and takes it; nothing when none came in time.
    template <class Sort>
    std::optional<Sort> next(std::chrono::nanoseconds within = long_enough) {
        auto const end = base::boot_clock::now() + within;
        do {
            for (auto it = notices_.begin(); it != notices_.end(); ++it) {
                if (!std::holds_alternative<Sort>(*it)) continue;
                auto out = std::get<Sort>(std::move(*it));
                notices_.erase(it);
                return out;
            }
            store_->drive(end);
        } while (base::boot_clock::now() < end);
        return std::nullopt;
    }

    /// The same for whoever watches the store's descriptor among others, and never waits in it.
    template <class Sort>
    std::optional<Sort> next_by_descriptor(std::chrono::milliseconds within = 20s) {
        auto const end = base::boot_clock::now() + within;
        while (base::boot_clock::now() < end) {
            if (auto found = next<Sort>(0ns)) return found;
            pollfd wanted{store_->descriptor(), POLLIN, 0};
            if (::poll(&wanted, 1, static_cast<int>(within.count())) <= 0) break;
        }
        return std::nullopt;
    }

    [[nodiscard]] seam::client_id id() const noexcept { return id_; }
    [[nodiscard]] seam::store& store() noexcept { return *store_; }
    [[nodiscard]] std::size_t unread() const noexcept { return notices_.size(); }
    /// Whether the store has answered a request that was begun.
    [[nodiscard]] bool answered(seam::request_id id) const { return replies_.contains(id); }

    /// What the store has logged.
    [[nodiscard]] std::string log() const {
        std::lock_guard const guard{log_mutex_};
        return log_;
    }

protected:
    store_peer(seam::store_module const& of, std::string const& url)
        : id_{base::entropy()},
          store_{of.make({.url = base::url::parse(url),
                          .self = {.id = id_, .host = "here", .pid = ::getpid(), .label = "peer"},
                          .sink = *this,
                          .log = [this](log_level, std::string const& words) {
                              std::lock_guard const guard{log_mutex_};
                              log_ += words + "\n";
                          }})} {}
    ~store_peer() = default;

private:
    void on_reply(seam::request_id id, seam::reply answer) override {
        EXPECT_TRUE(replies_.emplace(id, std::move(answer)).second) << "answered twice";
    }
    void on_notice(seam::notice what) override { notices_.push_back(std::move(what)); }

    seam::client_id id_;
    std::uint64_t last_{0};
    std::atomic<std::uint64_t> last_request_{0};
    std::map<seam::request_id, seam::reply> replies_;
    std::vector<seam::notice> notices_;
    mutable std::mutex log_mutex_;
    std::string log_;
    std::unique_ptr<seam::store> store_;
};

[[nodiscard]] inline bool is_granted(seam::reply const& it) {
    return std::holds_alternative<seam::granted>(it.body);
}
[[nodiscard]] inline bool is_queued(seam::reply const& it) {
    return std::holds_alternative<seam::queued>(it.body);
}
[[nodiscard]] inline bool is_refused(seam::reply const& it, seam::refusal why) {
    auto const* const no = std::get_if<seam::refused>(&it.body);
    return no != nullptr && no->why == why;
}
[[nodiscard]] inline std::uint64_t number_of(seam::reply const& it) {
    return static_cast<std::uint64_t>(std::get<seam::granted>(it.body).held.number);
}
[[nodiscard]] inline base::error error_of(seam::reply const& it) {
    auto const* const failed = std::get_if<seam::failure>(&it.body);
    return failed == nullptr ? base::error{} : failed->error;
}

}  // namespace holdfast::test
