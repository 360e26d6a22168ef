#include "stores/mysql/pool.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::mysql {

using namespace std::chrono_literals;

pool::pool(settings const& to, schema const& tables, net::poller& events, listener who)
    : tell_{std::move(who)} {
    for (std::uint32_t i = 0; i < to.connections; ++i)
        all_.push_back(std::make_unique<connection>(to, tables, events, i,
                                                    static_cast<connection::owner&>(*this)));
}

bool pool::is_up() const noexcept {
    return std::ranges::any_of(all_, [](auto const& each) { return each->is_up(); });
}

// One at a time: whether the server has room for another is known when it has answered.
void pool::open_another() {
    if (now_ < not_before_) return;
    connection* off = nullptr;
    for (auto const& each : all_) {
        if (!each->is_off() && !each->is_up()) return;
        if (off == nullptr && each->is_off()) off = each.get();
    }
    if (off != nullptr) off->start(now_);
}

void pool::send(exchange what, base::instant now) {
    now_ = now;
    for (auto const& each : all_)
        if (each->is_free() && waiting_.empty()) return each->send(std::move(what), now);
    waiting_.push_back(std::move(what));
    open_another();
}

void pool::on_free(connection& which) {
    pause_ = 0ms;
    tell_.on_up(which);
    if (waiting_.empty() || !which.is_free()) return;
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    which.send(std::move(next), now_);
}

void pool::on_broken(connection&, base::error const& why) {
    pause_ = std::clamp<std::chrono::milliseconds>(pause_ * 2, 20ms, 1000ms);
    not_before_ = now_ + pause_;
    if (is_up()) {
        not_before_ = now_ + 1000ms;  // the server has no room for one more: the others do
        return;
    }
    tell_.on_down(why);
    drop_waiting(why);
}

void pool::drop_waiting(base::error const& why) {
    for (auto& each : std::exchange(waiting_, {})) {
        answer none;
        none.lost = why;
        none.sent = false;
        each.done(std::move(none));
    }
}

void pool::take(std::span<net::poller::event const> events, base::instant now) {
    now_ = now;
    for (auto const& each : events)
        if (each.about < all_.size()) all_[each.about]->advance(each.kinds, now);
}

void pool::tend(base::instant now) {
    now_ = now;
    if (!waiting_.empty() && !is_up()) open_another();
    for (auto const& each : all_) {
        if (now < each->due()) continue;
        if (each->is_up()) cut_idle();
        each->advance(0, now);
    }
}

// A network that has forgotten one connection has forgotten its like: each of them would cost a time-out to find out.
void pool::cut_idle() {
    for (auto const& each : all_)
        if (each->is_free()) each->cut({errc::store_unavailable, "the server is silent"});
}

base::instant pool::due() const noexcept {
    auto out = base::never;
    bool settled = !waiting_.empty();
    for (auto const& each : all_) {
        out = std::min(out, each->due());
        settled = settled && each->is_off();
    }
    return settled ? std::min(out, not_before_) : out;
}

void pool::cut(base::error const& why) {
    for (auto const& each : all_)
        if (!each->is_off()) each->cut(why);
    drop_waiting(why);
}

void pool::abandon() noexcept {
    for (auto const& each : all_)
        each->abandon();
}

}  // namespace holdfast::stores::mysql
