#include "stores/postgres/hearing.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "stores/postgres/fault.hpp"

namespace holdfast::stores::postgres {

using namespace std::chrono_literals;

namespace {

constexpr auto proof_within = 1000ms;
constexpr auto refused_pause = 60'000ms;  ///< a pooler does not change from minute to minute

}  // namespace

hearing::hearing(settings const& to, schema const& tables, net::poller& events,
                 net::poller::tag about, listener& tell)
    : to_{to},
      tell_{tell},
      channel_{to.prefix + base::hex(base::entropy())},
      listen_{"", "LISTEN \"" + channel_ + "\""},
      alive_{"", "SELECT 1"},
      connection_{to, tables, events, about, *this} {}

void hearing::start(base::instant now) {
    now_ = now;
    if (at_ != phase::off) return;
    at_ = phase::connecting;
    connection_.start(now);
}

void hearing::on_ready(connection&) {
    if (!connection_.is_direct())
        return go_deaf(
            {errc::store_unavailable, "the server " + to_.server + " is behind a pooler"}, true,
            refused_pause);
    connection_.send({{statement{listen_}},
                      [this](answer found) {
                          if (found.lost) return;
                          if (auto const* const bad = found.failed())
                              return go_deaf(explain(bad->state(), bad->words(), to_), true,
                                             refused_pause);
                          at_ = phase::proving;
                          change_at_ = base::never;
                          nonce_ = base::hex(base::entropy());
                          tell_.prove(nonce_);
                      }},
                     now_);
}

void hearing::on_broken(connection&, base::error const& why) {
    if (at_ != phase::off) go_deaf(why, false, pause_.next());
}

void hearing::go_deaf(base::error const& why, bool mute, std::chrono::milliseconds pause) {
    at_ = phase::pausing;
    change_at_ = now_ + pause;
    if (!connection_.is_off()) connection_.cut(why);
    tell_.on_deaf(why, mute);
}

void hearing::on_notification(std::string_view payload) {
    auto what = read_payload(payload);
    if (!what) return;
    auto const* const proof = std::get_if<proof_heard>(&*what);
    if (proof == nullptr) return tell_.on_said(*std::move(what));
    if (at_ != phase::proving || proof->nonce != nonce_) return;
    at_ = phase::hearing;
    change_at_ = now_ + to_.timeout;
    pause_.reset();
    mute_pause_.reset();
    tell_.on_heard();
}

void hearing::on_proof_said(std::string const& nonce, bool taken, base::instant now) {
    if (at_ != phase::proving || nonce != nonce_) return;
    now_ = now;
    if (taken)
        change_at_ = now + std::min<std::chrono::milliseconds>(proof_within, to_.timeout);
    else
        go_deaf({errc::store_unavailable, "the server " + to_.server + " did not answer in time"},
                false, pause_.next());
}

void hearing::advance(base::instant now) {
    now_ = now;
    connection_.advance(0, now);
}

void hearing::tend(base::instant now) {
    now_ = now;
    // What has come in counts before a deadline does: we may be late ourselves.
    if (now >= due()) connection_.advance(0, now);
    if (now < change_at_) return;
    change_at_ = base::never;
    if (at_ == phase::proving) {
        go_deaf({errc::store_unavailable,
                 "what is said on a channel of " + to_.server + " does not arrive"},
                true, mute_pause_.next());
    } else if (at_ == phase::hearing) {
        ask_for_life();
    } else if (at_ == phase::pausing) {
        at_ = phase::connecting;
        connection_.start(now);
    }
}

// Without an answer in time the connection counts as broken.
void hearing::ask_for_life() {
    connection_.send({{statement{alive_}},
                      [this](answer const& found) {
                          if (!found.lost && at_ == phase::hearing) change_at_ = now_ + to_.timeout;
                      }},
                     now_);
}

base::instant hearing::due() const noexcept { return std::min(connection_.due(), change_at_); }

}  // namespace holdfast::stores::postgres
