#include "stores/postgres/messages.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::postgres {

using namespace std::chrono_literals;

namespace {

constexpr auto watch_every = 20s;  ///< within `statements::watch_kept`
/// So long the store surely tells of changes, whichever of the clocks is the faster one.
constexpr auto surely_kept = statements::watch_kept - 1s;
constexpr auto again_after_trouble = 500ms;

}  // namespace

messages::messages(settings const& to, schema const& tables, statements const& texts,
                   net::poller& events, net::poller::tag about, base::instant const& now,
                   compare::outbox& out, services around)
    : statements_{texts},
      now_{now},
      out_{out},
      around_{std::move(around)},
      hearing_{to, tables, events, about, *this} {}

void messages::watch(compare::name_key const& key) {
    if (watched_.empty()) watched_since_ = now_;
    watched_.insert(key);
    watch_again_at_ = std::min<base::instant>(watch_again_at_, now_ + watch_every);
}

void messages::tell_when_heard(compare::outbox::told_outcome what) {
    start();
    if (hearing_.is_settled()) return out_.add(std::move(what));
    held_.push_back(std::move(what));
}

void messages::tell_held() {
    for (auto& each : std::exchange(held_, {}))
        out_.add(std::move(each));
}

void messages::tend() {
    hearing_.tend(now_);
    if (now_ >= watch_again_at_) watch_again(hearing_.is_heard() && std::exchange(missed_, false));
}

base::instant messages::due() const noexcept { return std::min(hearing_.due(), watch_again_at_); }

void messages::cut(base::error const& why) {
    hearing_.cut(why);
    held_.clear();
}

void messages::prove(std::string const& nonce) {
    around_.send({statements_.notify(channel(), proof_payload(nonce))},
                 [this, nonce](answer const& found) {
                     bool const taken = !found.lost && found.failed() == nullptr;
                     hearing_.on_proof_said(nonce, taken, now_);
                 });
}

void messages::on_heard() {
    pushes_ = true;
    letters_.clear();
    said_mute_ = false;
    tell_held();
    if (std::exchange(missed_, false)) watch_again(true);
}

void messages::on_deaf(base::error const& why, bool mute) {
    missed_ = true;
    // Until it is heard again, holders look whether they were evicted, and whoever waits asks.
    bool const was_heard = pushes_.exchange(false);
    if (mute) {
        if (!std::exchange(said_mute_, true))
            out_.log(log_level::warning, why.text + "; whoever waits asks again and again");
    } else if (was_heard && !around_.is_down()) {
        out_.doubt(why.text);
    }
    tell_held();
}

void messages::on_said(heard what) {
    if (auto* const letter = std::get_if<letter_heard>(&what)) {
        auto const state = letters_.add(*letter);
        if (state == letter_assembly::state::too_long) return out_.gap();
        if (state != letter_assembly::state::whole) return;
        out_.letter(letter->to, std::move(letter->body), letter->written);
    } else if (auto* const change = std::get_if<change_heard>(&what)) {
        if (watched_.contains(change->key)) out_.changed(std::move(change->key));
    }
}

// `gap`: something may have been missed, which is said once everything is watched again.
void messages::watch_again(bool gap) {
    watch_again_at_ = watched_.empty() ? base::never : now_ + watch_every;
    std::vector<statement> all;
    for (auto const& key : watched_)
        all.push_back(statements_.watch(key, channel()));
    if (all.empty()) {
        if (gap) out_.gap();
        return;
    }
    around_.send(std::move(all), [this, gap, asked = now_](answer const& found) {
        if (found.lost || found.failed() != nullptr) {
            watch_again_at_ = now_ + again_after_trouble;
            missed_ = missed_ || gap;
            return;
        }
        // As after a pause of the whole process: nobody was told for us meanwhile.
        bool const lapsed = now_ >= std::exchange(watched_since_, asked) + surely_kept;
        if (gap || lapsed) out_.gap();
    });
}

}  // namespace holdfast::stores::postgres
