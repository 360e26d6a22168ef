// What time brings to a connection: it is made, given up, made again.
#include <algorithm>
#include <string>
#include <utility>

#include "net/stream.hpp"
#include "stores/redis/connection.hpp"
#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

base::instant connection::front_due() const noexcept {
    auto due = base::never;
    if (!asked_.empty()) due = asked_.front().give_up;
    if (!held_.empty()) due = std::min(due, held_.front().give_up);
    return due;
}

base::instant connection::next_due() const noexcept {
    auto const due = front_due();
    if (at_ == phase::idle) return kept_ || !held_.empty() ? std::min(due, pause_.over()) : due;
    return at_ == phase::ready ? due : std::min(due, connect_by_);
}

void connection::tend(base::instant now) {
    if (now >= front_due()) expire(now);
    if (at_ == phase::dialling || at_ == phase::greeting) {
        if (now >= connect_by_) return cut(no_connection(), now);
        if (at_ == phase::dialling) on_ready(now);  // a host may have been looked up
    }
    bool const wanted = kept_ || !held_.empty();
    if (at_ == phase::idle && wanted && now >= pause_.over()) dial(now);
}

base::error connection::no_connection() const {
    if (stream_ != nullptr && stream_->is_securing()) return no_handshake(*to_);
    return unreachable("no connection within " + std::to_string(to_->timeout.count()) + " ms",
                       *to_);
}

void connection::expire(base::instant now) {
    if (!asked_.empty() && now >= asked_.front().give_up)
        return cut(
            unreachable("no answer within " + std::to_string(to_->timeout.count()) + " ms", *to_),
            now);
    while (!held_.empty() && now >= held_.front().give_up) {
        auto const first = std::move(held_.front());
        held_.pop_front();
        first.from->on_cut(first.which, last_error_ ? *last_error_ : no_connection());
    }
}

}  // namespace holdfast::stores::redis
