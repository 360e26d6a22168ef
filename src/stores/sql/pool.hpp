// The few connections by which all threads of a client send their exchanges.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "net/poller.hpp"
#include "stores/compare/retry_pause.hpp"

namespace holdfast::stores::sql {

/// Opens the first one when something is to be sent, and others while all are busy. What cannot be sent waits for the next
/// try to connect, and is answered with its failure.
///
/// A `Connection` has `exchange` and `answer`, an `owner` whom it tells when it can be sent to (`on_ready`, also when
/// it can again) and when it broke (`on_broken`, after its exchanges were answered); `start`, `send`, `advance`, `cut`, `abandon`,
/// `due`; and says whether it `is_off`, `is_ready`, `has_room` for an exchange, `is_silent` (nothing lies there to be read),
/// and how many are `unanswered`.
///
/// Thread-safety: none; its owner serialises.
template <class Connection>
class pool final : Connection::owner {
public:
    using exchange = typename Connection::exchange;
    using answer = typename Connection::answer;
    using maker = std::function<std::unique_ptr<Connection>(net::poller::tag about,
                                                            typename Connection::owner& tell)>;

    struct listener {
        std::function<void(base::error const&)> on_down;  ///< there is no connection any more
        std::function<void(Connection const&)> on_up;     ///< one can be sent to
    };

    /// The connections have the tags from 0 to `size` - 1.
    pool(std::uint32_t size, maker const& make, listener who) : tell_{std::move(who)} {
        for (std::uint32_t i = 0; i < size; ++i)
            all_.push_back(make(i, static_cast<typename Connection::owner&>(*this)));
    }

    void send(exchange what, base::instant now) {
        now_ = now;
        auto* const best = waiting_.empty() ? least_busy() : nullptr;
        if (best == nullptr) {
            waiting_.push_back(std::move(what));
            return open_another();
        }
        if (best->unanswered() > 0) open_another();
        best->send(std::move(what), now);
    }

    [[nodiscard]] bool is_up() const noexcept {
        return std::ranges::any_of(all_, [](auto const& each) { return each->is_ready(); });
    }

    /// Something is under way.
    [[nodiscard]] bool is_busy() const noexcept {
        return !waiting_.empty() ||
               std::ranges::any_of(all_, [](auto const& each) { return each->unanswered() > 0; });
    }

    void take(std::span<net::poller::event const> events, base::instant now) {
        now_ = now;
        for (auto const& each : events)
            if (each.about < all_.size()) all_[each.about]->advance(each.kinds, now);
    }

    /// What time brings.
    void tend(base::instant now) {
        now_ = now;
        if (!waiting_.empty() && !is_up()) open_another();
        for (auto const& each : all_) {
            if (now < each->due()) continue;
            // We may be late ourselves: what has come in counts, and shows that the network is there.
            if (each->is_ready() && each->is_silent()) cut_idle();
            each->advance(0, now);
        }
    }

    [[nodiscard]] base::instant due() const noexcept {
        auto out = base::never;
        bool trying = waiting_.empty();
        for (auto const& each : all_) {
            out = std::min(out, each->due());
            trying = trying || !each->is_off();
        }
        return trying ? out : std::min(out, not_before_);
    }

    /// Ends all of them: the tables are to be looked for again.
    void cut(base::error const& why) {
        for (auto const& each : all_)
            if (!each->is_off()) each->cut(why);
        refuse_waiting(why);
    }

    void abandon() noexcept {
        for (auto const& each : all_)
            each->abandon();
    }

private:
    void on_ready(Connection& which) override {
        pause_.reset();
        tell_.on_up(which);
        while (!waiting_.empty()) {
            auto* const best = least_busy();
            if (best == nullptr) return;
            auto next = std::move(waiting_.front());
            waiting_.pop_front();
            best->send(std::move(next), now_);
        }
    }

    void on_broken(Connection& /*which*/, base::error const& why) override {
        // The server has no room for one more, or has ended one: the others do.
        bool const others = is_up();
        not_before_ = now_ + (others ? longest_pause : pause_.next());
        if (others) return;
        tell_.on_down(why);
        refuse_waiting(why);
    }

    [[nodiscard]] Connection* least_busy() noexcept {
        Connection* out = nullptr;
        for (auto const& each : all_)
            if (each->has_room() && (out == nullptr || each->unanswered() < out->unanswered()))
                out = each.get();
        return out;
    }

    // One at a time: whether the server has room for another is known when it has answered.
    void open_another() {
        if (now_ < not_before_) return;
        Connection* off = nullptr;
        for (auto const& each : all_) {
            if (!each->is_off() && !each->is_ready()) return;
            if (off == nullptr && each->is_off()) off = each.get();
        }
        if (off != nullptr) off->start(now_);
    }

    // A network that has forgotten one connection has forgotten its like: each of them would cost a time-out to find out.
    void cut_idle() {
        for (auto const& each : all_)
            if (each->is_ready() && each->unanswered() == 0)
                each->cut({errc::store_unavailable, "the server is silent"});
    }

    void refuse_waiting(base::error const& why) {
        for (auto& each : std::exchange(waiting_, {})) {
            answer none;
            none.lost = why;
            none.sent = false;
            each.done(std::move(none));
        }
    }

    static constexpr std::chrono::milliseconds shortest_pause{20};
    static constexpr std::chrono::milliseconds longest_pause{1000};

    listener tell_;
    std::vector<std::unique_ptr<Connection>> all_;
    std::deque<exchange> waiting_;  ///< for a connection
    compare::retry_pause pause_{shortest_pause, longest_pause};
    base::instant not_before_{};  ///< for the next try to connect
    base::instant now_{};
};

}  // namespace holdfast::stores::sql
