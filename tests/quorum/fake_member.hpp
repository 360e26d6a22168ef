// A member of a quorum without a server: it answers when it is driven, and as late as a test wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "net/poller.hpp"
#include "seam/store.hpp"
#include "stores/memory/shared_state.hpp"

namespace holdfast::quorum_tests {

/// What a member has, and what becomes of requests. It outlives the member. Not thread-safe.
struct fake_server {
    std::unique_ptr<stores::memory::machine> store =
        std::make_unique<stores::memory::machine>(std::uint64_t{1});
    /// What is to be ended waits for so many turns, as behind others that need the connection. Whoever does not drive it
    /// waits for ever.
    int turns_before_end{0};
    int answers_in_a_turn{1'000'000};  ///< that are read
    bool silent{false};                ///< it answers nothing
    bool shut{false};                  ///< so is the member

    [[nodiscard]] seam::reply handle(seam::request const& what) {
        std::vector<stores::lease::directed_notice> nobody_hears;
        auto const now = base::boot_clock::now().time_since_epoch();
        seam::store_time const time{std::chrono::duration_cast<std::chrono::microseconds>(now)};
        auto out = store->handle(self_, what, time, nobody_hears);
        out.clock = clock_;
        return out;
    }
    [[nodiscard]] std::size_t holders(std::string const& name) {
        auto const found = handle(seam::inspect{.prefix = name, .exact = true});
        std::size_t out = 0;
        for (auto const& each : std::get<seam::page>(found.body).names)
            out += each.holders.size();
        return out;
    }

private:
    static inline std::uint64_t made_{0};
    seam::clock_id clock_{++made_};
    std::shared_ptr<seam::identity const> self_ =
        std::make_shared<seam::identity>(seam::identity{seam::client_id{1}, "here", 1, "test"});
};

/// Readable when there is something to do, as those of SQL are.
class fake_member final : public seam::store {
public:
    /// Both outlive it.
    fake_member(fake_server& at, seam::event_sink& sink) : server_{at}, sink_{sink} {}

    seam::capabilities abilities() const override { return {.prompt = true}; }
    int descriptor() noexcept override { return events_.descriptor(); }

    std::optional<seam::reply> send(seam::request_id id, seam::request what) noexcept override {
        auto& added = waiting_.emplace_back(id, std::move(what), std::nullopt);
        bool const waits = server_.turns_before_end > 0 && ends(added);
        if (!waits && !server_.silent) added.answer = server_.handle(added.what);
        events_.wake();
        return std::nullopt;
    }

    void drive(base::instant /*until*/) override {
        (void)events_.wait(base::boot_clock::now());  // so that it is not readable any more
        if (server_.silent || server_.shut) return;
        for (int answered = 0; !waiting_.empty(); ++answered) {
            if (answered == server_.answers_in_a_turn) return events_.wake();
            if (server_.turns_before_end > 0 && ends(waiting_.front())) {
                --server_.turns_before_end;
                return events_.wake();
            }
            auto next = std::move(waiting_.front());
            waiting_.pop_front();
            if (!next.answer) next.answer = server_.handle(next.what);
            sink_.on_reply(next.id, *std::move(next.answer));
        }
    }

    void interrupt() noexcept override { events_.wake(); }
    void shut() noexcept override { server_.shut = true; }

private:
    struct request {
        seam::request_id id;
        seam::request what;
        std::optional<seam::reply> answer;  ///< where it was carried out when it came
    };
    static bool ends(request const& one) { return std::holds_alternative<seam::settle>(one.what); }

    fake_server& server_;
    seam::event_sink& sink_;
    net::poller events_;
    std::deque<request> waiting_;
};

}  // namespace holdfast::quorum_tests
