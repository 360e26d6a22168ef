#include "stores/redis/connection.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "net/stream.hpp"
#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t read_size = 64U << 10;

constexpr milliseconds longest_turn{2};

bool names_another_server(std::string_view words) noexcept {
    return words.starts_with("MOVED ") || words.starts_with("ASK ");
}

}  // namespace

connection::connection(std::shared_ptr<settings const> to, std::string name, watcher& of,
                       net::poller& events, net::poller::tag about, std::uint64_t seed)
    : to_{std::move(to)},
      watcher_{of},
      events_{events},
      about_{about},
      greeting_{std::move(name)},
      pause_{seed},
      gathering_{*this} {}

connection::~connection() = default;

// --- sending -----------------------------------------------------------------------------------

void connection::send(command what, asker& from, std::size_t which, base::instant now,
                      milliseconds answer_within) {
    send({.what = std::move(what),
          .from = &from,
          .which = which,
          .give_up = now + to_->timeout,
          .answer_within = answer_within},
         now);
}

void connection::send(question what, base::instant now) {
    if (at_ == phase::ready) {
        put(std::move(what), now);
    } else {
        held_.push_back(std::move(what));
    }
}

// Nobody is asked what was meant for another server. While it connected, the address may have become
// that of one whose clock has nothing to do with the times in the request.
void connection::put(question what, base::instant now) {
    auto const wanted = what.what.only_for;
    if (wanted != seam::clock_id{} && wanted != clock())
        return what.from->on_failure(what.which, another_server(*to_));
    expect_answer(what, now);
    if (gathering_.takes(what)) return gathering_.add(std::move(what));
    gathering_.send();  // came first
    if (gathering_.holds_back(what)) return gathering_.add(std::move(what));
    send_alone(std::move(what));
}

void connection::expect_answer(question const& what, base::instant now) noexcept {
    if (what.answer_within <= milliseconds::zero()) return;
    // Whoever asks again after that time may have measured it from a moment earlier.
    auto const allowed = what.answer_within - what.answer_within / 8;
    silent_from_ = std::min(silent_from_, now + std::max(allowed, shortest_silence));
}

void connection::send_alone(question what) {
    if (what.from != nullptr)
        if (auto text = scripts_.before(what.what))
            send_alone({.what = std::move(*text),
                        .give_up = what.give_up,
                        .meaning = question::purpose::script});
    if (what.asking) send_alone({.what = command{"ASKING"}, .give_up = what.give_up});
    out_.append(what.what.bytes(clock()));
    asked_.push_back(std::move(what));
}

// After a pause of this process the answer may have come, and nobody has read it yet.
bool connection::seems_dead(base::instant now) const noexcept {
    return at_ == phase::ready && heard_ && now >= silent_from_ && !stream_->is_readable();
}

base::instant connection::troubled_from() const noexcept {
    constexpr milliseconds patience{300};
    auto const waiting = !asked_.empty()  ? asked_.front().give_up
                         : !held_.empty() ? held_.front().give_up
                                          : base::never;
    if (waiting != base::never) return waiting - to_->timeout + patience;
    return kept_ && at_ != phase::ready ? base::after(pause_.begun(), patience) : base::never;
}

void connection::flush(base::instant now, bool may_gather) {
    if (at_ == phase::ready) may_gather ? gathering_.send_when_due() : gathering_.send();
    if (out_.empty() || stream_ == nullptr || !stream_->is_open()) return;
    guarded(now, [&] {
        written_ += stream_->write(std::string_view{out_}.substr(written_));
        if (written_ < out_.size()) return;
        out_.clear();
        written_ = 0;
    });
}

// --- connecting --------------------------------------------------------------------------------

void connection::dial(base::instant now) {
    at_ = phase::dialling;
    pause_.begin(now);
    connect_by_ = now + to_->timeout;
    guarded(now, [&] {
        stream_ = std::make_unique<net::stream>(events_, about_, to_->server);
        stream_->advance();
        if (stream_->is_open()) greet(now);
    });
}

// --- answers -----------------------------------------------------------------------------------

void connection::on_ready(base::instant now) {
    if (stream_ == nullptr) return;
    guarded(now, [&] {
        if (at_ == phase::dialling) {
            stream_->advance();
            if (stream_->is_open()) greet(now);
            return;
        }
        receive(now);
    });
    flush(now, true);
}

// A server that sends faster than we read must not keep the owner's lock for ever.
void connection::receive(base::instant now) {
    buffer_.resize(read_size);
    more_ = false;
    for (;;) {
        auto const got = stream_->read(buffer_);
        if (got == 0) return;
        std::string_view const bytes{buffer_.data(), got};
        if (!std::exchange(heard_, true))
            if (auto why = other_protocol(bytes, *to_)) throw unwelcome{*std::move(why)};
        silent_from_ = base::never;
        parser_->feed(bytes);
        while (parser_->next(answer_)) {
            take(answer_, now);
            if (stream_ == nullptr) return;  // whoever was answered has cut it
        }
        if (got < buffer_.size() && !stream_->reads_ahead()) return;
        if (base::boot_clock::now() - now < longest_turn) continue;
        more_ = true;
        return;
    }
}

void connection::take(answer const& what, base::instant now) {
    if (asked_.empty()) return watcher_.on_push(what);
    auto first = std::move(asked_.front());
    asked_.pop_front();
    if (first.from == nullptr) return take_greeting(first, what, now);
    if (first.repeated) gathering_.let_follow(first.what);
    if (what.is_error()) return take_error(std::move(first), what.error_words(), now);
    prove();
    if (gathering_.is_premature(first, what)) return repeat(std::move(first), now);
    if (first.what.piece.gathers) gathering_.learn(first.what, what);
    try {
        first.from->on_answer(first.which, what, clock());
    } catch (garbled const& why) {
        first.from->on_failure(first.which, unreachable(why.what(), *to_));
        throw;
    }
}

// Most of the reasons pass, or concern one of them only.
void connection::take_apart(question const& batch, std::string_view words) {
    if (is_lasting(words)) gathering_.switch_off();
    bool const elsewhere = names_another_server(words);
    for (auto& each : gathering_.take_apart(batch))
        if (!elsewhere || !watcher_.takes_over(each, words)) send_alone(std::move(each));
}

// Where the server has forgotten the script of a call, the same call works behind the script; where it does not take
// the script, or does not keep it either, with the text in the call.
void connection::take_error(question what, std::string_view words, base::instant now) {
    auto const* const calls = what.what.calls();
    bool const again = !what.is_batch || (gathering_.is_on() && !what.repeated);
    if (words.starts_with("NOSCRIPT") && calls != nullptr && again) {
        bool const lasts = what.repeated || scripts_.is_refused(*calls);
        scripts_.on_missing();
        if (lasts && !what.is_batch) what.what = what.what.with_text();
        return repeat(std::move(what), now);
    }
    if (what.is_batch) return take_apart(what, words);
    what.repeated = false;  // elsewhere it never was
    if (watcher_.takes_over(what, words)) return;
    what.from->on_failure(what.which, explain(words, *to_));
}

// It goes at once, as it went before; what came after it stays behind.
void connection::repeat(question what, base::instant now) {
    what.repeated = true;
    what.give_up = answer_by();
    gathering_.keep_behind(what.what);
    expect_answer(what, now);
    send_alone(std::move(what));
}

// --- ends --------------------------------------------------------------------------------------

// A step during which the connection may turn out to be of no use.
template <class Step>
void connection::guarded(base::instant now, Step step) {
    try {
        step();
    } catch (net::broken const& why) {
        bool const mute = at_ == phase::greeting && !heard_;
        cut(mute ? never_heard(why.what(), *to_) : unreachable(why.what(), *to_), now);
    } catch (unwelcome const& why) {
        cut(why.why, now);
    } catch (garbled const& why) {
        cut({errc::store_unavailable, "the server " + to_->shown() +
                                          " does not speak as Redis does: " +
                                          base::without_secret(why.what(), to_->password)},
            now);
    }
}

void connection::cut(base::error const& why, base::instant now) {
    bool const was_ready = std::exchange(at_, phase::idle) == phase::ready;
    stream_.reset();
    out_.clear();
    written_ = 0;
    greeting_.forget();
    heard_ = more_ = false;
    silent_from_ = base::never;
    scripts_.clear();
    last_error_ = why;
    pause_.end(was_ready, now);
    auto asked = std::exchange(asked_, {});
    auto held = std::exchange(held_, {});
    watcher_.on_break(why);
    gathering_.cut(why);
    for (auto const& each : asked)
        if (each.repeated) gathering_.let_follow(each.what);
    for (auto* const all : {&asked, &held})
        for (auto& each : *all)
            if (each.from != nullptr) each.from->on_cut(each.which, why);
}

void connection::lead_to(std::shared_ptr<settings const> to) {
    to_ = std::move(to);
    pause_.forget();
}

void connection::abandon() noexcept {
    if (stream_ != nullptr) stream_->abandon();
}

}  // namespace holdfast::stores::redis
