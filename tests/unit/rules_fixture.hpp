// One lease store on a clock that the test sets: the reference machine, driven request by request.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stores/memory/shared_state.hpp"

namespace holdfast::stores {

using namespace std::chrono_literals;

class rules_test : public ::testing::Test {
protected:
    static constexpr seam::store_time late_enough = seam::store_time::max();

    seam::spec_ptr spec(seam::claim_spec its) {
        return std::make_shared<seam::claim_spec const>(std::move(its));
    }
    seam::spec_ptr lock(std::string name = "n", ordering order = ordering::barging,
                        std::chrono::milliseconds lease = 1s) {
        return spec({.name = std::move(name), .order = order, .lease = lease});
    }
    seam::spec_ptr reader(std::string name = "n") {
        return spec({.name = std::move(name), .mode = claim_mode::shared, .lease = 1s});
    }
    seam::spec_ptr permits(std::uint32_t n, std::uint32_t limit,
                           ordering order = ordering::barging) {
        return spec({.name = "s",
                     .kind = lock_kind::semaphore,
                     .mode = claim_mode::permits,
                     .permits = n,
                     .limit = limit,
                     .order = order,
                     .lease = 1s});
    }
    seam::claim claim(seam::spec_ptr its, std::uint64_t client = 1) {
        return {std::move(its), {seam::client_id{client}, ++last_}};
    }

    seam::reply_body ask(seam::request const& what, std::uint64_t client = 1) {
        auto& self = clients_[client];
        if (self == nullptr)
            self = std::make_shared<seam::identity>(
                seam::identity{seam::client_id{client}, "host", 1, "label"});
        notices.clear();
        return machine_.handle(self, what, now, notices).body;
    }

    seam::reply_body submit(seam::claim const& what, bool queue = true,
                            seam::store_time not_after = late_enough) {
        seam::submit request{{}, queue, not_after};
        request.subject = what;
        return ask(request, static_cast<std::uint64_t>(what.id.client));
    }
    seam::grant take(seam::claim const& what) {
        auto const answer = submit(what);
        auto const* const granted = std::get_if<seam::granted>(&answer);
        EXPECT_NE(granted, nullptr) << "not granted";
        return granted == nullptr ? seam::grant{} : granted->held;
    }
    void wait_in_line(seam::claim const& what) {
        EXPECT_TRUE(std::holds_alternative<seam::queued>(submit(what)));
    }
    seam::ending settle(seam::claim const& what, std::chrono::milliseconds keep_for = 0ms,
                        seam::store_time tombstone_until = {}) {
        seam::settle request;
        request.subject = what;
        request.keep_for = keep_for;
        request.tombstone_until = tombstone_until;
        return std::get<seam::settled>(ask(request, static_cast<std::uint64_t>(what.id.client)))
            .how;
    }
    seam::renewal renew(seam::claim const& what, std::chrono::milliseconds lease = 1s) {
        seam::renew request;
        request.items.push_back({what, lease});
        return std::get<seam::renewed>(ask(request, static_cast<std::uint64_t>(what.id.client)))
            .items.front();
    }
    static seam::refusal why(seam::reply_body const& answer) {
        auto const* const refused = std::get_if<seam::refused>(&answer);
        EXPECT_NE(refused, nullptr) << "not refused";
        return refused == nullptr ? seam::refusal::gone : refused->why;
    }
    /// The claims that the last request has granted to waiters, in order.
    std::vector<seam::claim_id> handed_over() const {
        std::vector<seam::claim_id> out;
        for (auto const& [to, what] : notices)
            if (auto const* const hold = std::get_if<seam::claim_granted>(&what))
                out.push_back(hold->id);
        return out;
    }
    template <class Notice>
    std::size_t told() const {
        std::size_t count = 0;
        for (auto const& [to, what] : notices)
            count += std::holds_alternative<Notice>(what) ? 1U : 0U;
        return count;
    }
    std::size_t size() const { return machine_.size(); }

    seam::store_time now{1h};
    std::vector<lease::directed_notice> notices;

private:
    memory::machine machine_{1'000};
    std::map<std::uint64_t, std::shared_ptr<seam::identity const>> clients_;
    std::uint64_t last_{0};
};

}  // namespace holdfast::stores
