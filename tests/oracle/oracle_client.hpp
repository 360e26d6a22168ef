// A client of a store under test, through the seam, that keeps what it was told.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/url.hpp"
#include "seam/store.hpp"

namespace holdfast::oracle {

/// Not thread-safe.
class oracle_client final : seam::event_sink {
public:
    using maker = std::unique_ptr<seam::store> (*)(seam::store_context);

    oracle_client(maker make, std::string const& url)
        : self_{std::make_shared<seam::identity>(
              seam::identity{seam::client_id{base::entropy()}, "here", 1, "oracle"})},
          store_{make({.url = base::url::parse(url),
                       .self = *self_,
                       .sink = *this,
                       .log = [](log_level, std::string const&) {}})} {}

    [[nodiscard]] std::shared_ptr<seam::identity const> const& self() const noexcept {
        return self_;
    }

    /// One round trip.
    seam::reply send(seam::request what) {
        seam::request_id const id{++last_};
        if (auto answer = store_->send(id, std::move(what))) return *std::move(answer);
        auto const end = base::boot_clock::now() + std::chrono::seconds{20};
        while (!replies_.contains(id) && base::boot_clock::now() < end)
            store_->drive(end);
        auto const found = replies_.find(id);
        if (found == replies_.end())
            return {{}, seam::failure{{errc::timed_out, "the store never replied"}}};
        auto out = std::move(found->second);
        replies_.erase(found);
        return out;
    }

    /// All of them at once, from inside a reply: what the store writes when it is driven on may go together.
    std::vector<seam::reply> send_together(std::vector<seam::request> const& all) {
        auto const first = last_ + 2;
        when_told_ = [&] {
            for (auto const& each : all)
                if (auto answer = store_->send(seam::request_id{++last_}, each))
                    on_reply(seam::request_id{last_}, *std::move(answer));
        };
        (void)send(seam::hello{});
        auto const end = base::boot_clock::now() + std::chrono::seconds{20};
        while (replies_.size() < all.size() && base::boot_clock::now() < end)
            store_->drive(end);
        std::vector<seam::reply> out;
        for (auto id = first; id <= last_; ++id) {
            auto const found = replies_.extract(seam::request_id{id});
            out.push_back(found ? found.mapped() : seam::reply{{}, seam::failure{}});
        }
        return out;
    }

    /// What was told since the last time.
    std::vector<seam::notice> take_notices() {
        store_->drive(base::boot_clock::now());
        return std::exchange(notices_, {});
    }

private:
    void on_reply(seam::request_id id, seam::reply answer) override {
        EXPECT_TRUE(replies_.emplace(id, std::move(answer)).second) << "answered twice";
        if (auto const then = std::exchange(when_told_, nullptr)) then();
    }
    void on_notice(seam::notice what) override {
        if (!std::holds_alternative<seam::session_changed>(what))
            notices_.push_back(std::move(what));
    }

    std::shared_ptr<seam::identity const> self_;
    std::unique_ptr<seam::store> store_;
    std::uint64_t last_{0};
    std::function<void()> when_told_;  ///< by the next reply
    std::map<seam::request_id, seam::reply> replies_;
    std::vector<seam::notice> notices_;
};

}  // namespace holdfast::oracle
