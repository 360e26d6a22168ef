#include "stores/redis/hearing.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"

namespace holdfast::stores::redis {

namespace {

// A server that was chosen to tell, and does not take the subscription, is left for another one.
constexpr std::chrono::seconds patience{1};

// A server that only paused keeps its subscription when it goes on within this time.
constexpr std::chrono::milliseconds shortest_probe{250};

}  // namespace

hearing::hearing(std::shared_ptr<settings const> of, std::string name, std::string channel,
                 owner& to, net::poller& events, net::poller::tag about)
    : of_{std::move(of)}, owner_{to} {
    subscription::listener& heard_by = *this;
    if (!channel.empty())
        messages_.emplace(of_, std::move(name), std::move(channel), heard_by, events, about,
                          base::entropy());
}

bool hearing::begin_to_rely() {
    if (!messages_ || messages_->is_heard()) return false;
    ++deaf_;
    messages_->start();
    return true;
}

void hearing::on_answered(bool waits) {
    --deaf_;
    missed_ = missed_ || waits;
    say_restored();
}

void hearing::on_subscribed() {
    if (std::exchange(heard_before_, true)) missed_ = true;
    owner_.on_heard();
    say_restored();
}

// What waits was queued, or goes on waiting, since before anybody listened.
// Said once for all that were deaf together: whoever hears it asks for everything that waits.
void hearing::say_restored() {
    if (!missed_ || deaf_ > 0 || !messages_->is_heard()) return;
    missed_ = false;
    owner_.on_restored();
}

void hearing::tend(servers& all, bool known, base::instant now) {
    if (!messages_ || !messages_->is_started()) return;
    if (is_found() && known) {
        auto const& target = messages_->line().target();
        bool const gone = !all.has(target);
        if (gone || (!messages_->is_heard() && now >= led_at_ + patience)) {
            led_at_ = now;
            auto next = all.any(target);
            if (next != nullptr && (gone || next->shown() != target.shown()))
                messages_->lead_to(std::move(next), now);
        }
    }
    messages_->tend(now);
    messages_->flush(now);
}

base::instant hearing::next_due() const noexcept {
    if (!messages_ || !messages_->is_started()) return base::never;
    auto const due = messages_->next_due();
    if (!is_found() || messages_->is_heard()) return due;
    return std::min(due, base::after(led_at_, patience));
}

void hearing::probe(std::chrono::milliseconds answer_within, base::instant now) {
    if (messages_) messages_->probe(std::max(2 * answer_within, shortest_probe), now);
}

void hearing::on_ready(base::instant now) {
    if (messages_) messages_->on_ready(now);
}

bool hearing::has_more() const noexcept { return messages_ && messages_->line().has_more(); }

void hearing::cut(base::error const& why, base::instant now) {
    if (messages_) messages_->line().cut(why, now);
}

void hearing::abandon() noexcept {
    if (messages_) messages_->line().abandon();
}

}  // namespace holdfast::stores::redis
