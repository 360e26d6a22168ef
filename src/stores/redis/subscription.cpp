#include "stores/redis/subscription.hpp"

#include <algorithm>
#include <utility>

#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

namespace {

constexpr std::chrono::seconds ping_every{5};

}  // namespace

subscription::subscription(std::shared_ptr<settings const> to, std::string name,
                           std::string channel, listener& of, net::poller& events,
                           net::poller::tag about, std::uint64_t seed)
    : to_{to}, channel_{std::move(channel)}, listener_{of}, line_{std::move(to), std::move(name),
                                                                  *this,         events,
                                                                  about,         seed} {}

void subscription::lead_to(std::shared_ptr<settings const> to, base::instant now) {
    line_.cut({errc::store_unavailable, "another server is to tell"}, now);
    to_ = to;
    line_.lead_to(std::move(to));
}

void subscription::tend(base::instant now) {
    now_ = now;
    line_.tend(now);
    if (now >= answer_by_)
        line_.cut(
            unreachable("no answer within " + std::to_string(to_->timeout.count()) + " ms", *to_),
            now);
    if (now >= ping_at_) {
        line_.tell(command{"PING"});
        answer_by_ = std::min(answer_by_, now + to_->timeout);
        ping_at_ = now + ping_every;
    }
}

void subscription::probe(std::chrono::milliseconds answer_within, base::instant now) {
    if (!heard_) return;
    line_.tell(command{"PING"});
    answer_by_ = std::min(answer_by_, now + std::min(answer_within, to_->timeout));
    ping_at_ = now + ping_every;
}

base::instant subscription::next_due() const noexcept {
    return std::min({line_.next_due(), answer_by_, ping_at_});
}

void subscription::on_open() {
    command wanted{"SUBSCRIBE"};
    wanted << channel_;
    line_.tell(std::move(wanted));
    answer_by_ = now_ + to_->timeout;
    ping_at_ = now_ + ping_every;
}

// On such a connection everything is an array: a kind, and what belongs to it.
void subscription::on_push(answer const& what) {
    if (what.is_error()) throw unwelcome{explain(what.error_words(), *to_)};
    answer_reader in{what};
    auto const elements = in.array();
    auto const kind = in.text();
    answer_by_ = base::never;
    ping_at_ = now_ + ping_every;
    if (kind == "message" && elements == 3) {
        if (in.text() != channel_) return;
        line_.prove();
        listener_.on_message(in.text());
    } else if (kind == "subscribe" && elements == 3) {
        heard_ = true;
        listener_.on_subscribed();
    } else if (kind != "pong") {
        throw garbled{"a message of an unknown kind came"};
    }
}

void subscription::on_break(base::error const& why) {
    answer_by_ = ping_at_ = base::never;
    if (std::exchange(heard_, false)) listener_.on_unsubscribed(why);
}

}  // namespace holdfast::stores::redis
