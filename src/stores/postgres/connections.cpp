#include "stores/postgres/connections.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::postgres {

using namespace std::chrono_literals;

std::chrono::milliseconds longer_pause(std::chrono::milliseconds last) noexcept {
    return std::clamp<std::chrono::milliseconds>(last * 2, 20ms, 1000ms);
}

connections::connections(settings const& to, schema const& tables, net::poller& events,
                         listener who)
    : to_{to}, tell_{std::move(who)} {
    for (std::uint32_t i = 0; i < to.connections; ++i)
        all_.push_back(std::make_unique<connection>(to_, tables, events, i,
                                                    static_cast<connection::owner&>(*this)));
}

bool connections::is_up() const noexcept {
    return std::ranges::any_of(all_, [](auto const& each) { return each->is_ready(); });
}

connection* connections::least_busy() noexcept {
    connection* out = nullptr;
    for (auto const& each : all_)
        if (each->is_ready() && (out == nullptr || each->unanswered() < out->unanswered()))
            out = each.get();
    return out;
}

connection* connections::one_that_is_off() noexcept {
    for (auto const& each : all_)
        if (each->is_off()) return each.get();
    return nullptr;
}

// One at a time: whether the server has room for another is known when it has answered.
void connections::open_another() {
    if (now_ < not_before_) return;
    for (auto const& each : all_)
        if (!each->is_off() && !each->is_ready()) return;
    if (auto* const fresh = one_that_is_off()) fresh->start(now_);
}

void connections::send(exchange what, base::instant now) {
    now_ = now;
    auto* const best = least_busy();
    if (best == nullptr) {
        waiting_.push_back(std::move(what));
        open_another();
        return;
    }
    if (best->unanswered() > 0) open_another();
    best->send(std::move(what), now);
}

void connections::on_ready(connection&) {
    pause_ = 0ms;
    tell_.on_up();
    for (auto& each : std::exchange(waiting_, {}))
        send(std::move(each), now_);
}

void connections::on_broken(connection&, base::error const& why) {
    pause_ = longer_pause(pause_);
    not_before_ = now_ + pause_;
    if (is_up()) {
        // The server has no room for one more, or has ended one: the others do.
        not_before_ = now_ + 1000ms;
        return;
    }
    tell_.on_down(why);
    for (auto& each : std::exchange(waiting_, {})) {
        answer none;
        none.lost = why;
        none.sent = false;
        each.done(std::move(none));
    }
}

void connections::take(std::span<net::poller::event const> events, base::instant now) {
    now_ = now;
    for (auto const& each : events)
        if (each.about < all_.size()) all_[each.about]->advance(now);
}

void connections::tend(base::instant now) {
    now_ = now;
    if (!waiting_.empty() && !is_up()) open_another();
    for (auto const& each : all_) {
        if (now < each->due()) continue;
        if (each->is_ready()) cut_idle();
        each->advance(now);
    }
}

// A network that has forgotten one connection has forgotten its like: each of them would cost a time-out to find out.
void connections::cut_idle() {
    for (auto const& each : all_)
        if (each->is_ready() && each->unanswered() == 0)
            each->cut({errc::store_unavailable, "the server is silent"});
}

base::instant connections::due() const noexcept {
    auto out = base::never;
    bool connecting = false;
    for (auto const& each : all_) {
        out = std::min(out, each->due());
        connecting = connecting || !(each->is_off() || each->is_ready());
    }
    return waiting_.empty() || connecting ? out : std::min(out, not_before_);
}

void connections::cut(base::error const& why) {
    for (auto const& each : all_)
        if (!each->is_off()) each->cut(why);
    for (auto& each : std::exchange(waiting_, {})) {
        answer none;
        none.lost = why;
        none.sent = false;
        each.done(std::move(none));
    }
}

void connections::abandon() noexcept {
    for (auto const& each : all_)
        each->abandon();
}

}  // namespace holdfast::stores::postgres
