#include "quorum/client.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::quorum_tests {

namespace {

stores::quorum::judgement const usual;

std::vector<std::string> addresses_of(std::size_t count) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back("m" + std::to_string(i));
    return out;
}

clock draw_clock(world& home, std::size_t place) {
    auto const sign = home.draws().one_in(2) ? 1.0 : -1.0;
    return {1000h + nanos{1h} * place, 1 + sign * home.how().drift};
}

}  // namespace

client::client(world& home, std::size_t place)
    : home_{home},
      place_{place},
      clock_{draw_clock(home, place)},
      self_{std::make_shared<seam::identity>(
          seam::identity{seam::client_id{place + 1}, "here", 1, "client"})},
      machine_{{.agreed = stores::quorum::agreement::on(addresses_of(home.how().members),
                                                        home.how().longest_lease),
                .addresses = addresses_of(home.how().members),
                .self = self_->id,
                .seed = home.draws().next(),
                .judge = home.how().judge != nullptr ? home.how().judge : &usual}} {}

base::instant client::time() const { return base::instant{clock_.at(home_.now())}; }
nanos client::truth(base::instant when) const { return clock_.when(when.time_since_epoch()); }

void client::start() { later(nanos{home_.draws().below(20'000'000)}, &client::greet); }

void client::later(nanos span, void (client::*what)()) {
    auto const turn = ++turn_;
    home_.at(home_.now() + span, [this, turn, what] {
        if (turn == turn_) (this->*what)();
    });
}

void client::step() {
    for (auto& each : machine_.take_outgoing())
        home_.send(place_, std::move(each));
    auto told = machine_.take_results();
    for (auto const& [id, answer] : told.replies) {
        if (renewals_.erase(id) > 0) {
            if (auto const* const renewed = std::get_if<seam::renewed>(&answer.body))
                on_renewed(*renewed);
            continue;
        }
        if (auto const evicted = evictions_.extract(id)) {
            home_.held().on_evicted(evicted.mapped(), home_.now());
            continue;
        }
        if (awaited_ != id) continue;
        awaited_.reset();
        on_answer(answer);
    }
    for (auto const& each : told.notices)
        if (std::holds_alternative<seam::changed>(each) && now_ == doing::waiting) submit();
    auto const next = machine_.next_time();
    if (next >= timer_ || next == base::never) return;
    timer_ = next;
    home_.at(std::max(home_.now(), truth(next) + 1us), [this, next] {
        if (timer_ != next) return;
        timer_ = base::never;
        machine_.on_time(time());
        step();
    });
}

void client::on_reply(std::size_t member, seam::request_id id, seam::reply const& answer) {
    machine_.on_reply(member, id, answer, time());
    step();
}

void client::on_notice(std::size_t member, seam::notice const& what) {
    machine_.on_notice(member, what, time());
    step();
}

void client::ask(seam::request what) {
    seam::request_id const id{++last_request_};
    awaited_ = id;
    machine_.take(id, what, time());
    step();
}

void client::evict(std::string name) {
    seam::request_id const id{++last_request_};
    home_.held().on_evicting(name);
    evictions_.emplace(id, name);
    machine_.take(id, seam::evict{.name = std::move(name)}, time());
    step();
}

void client::greet() {
    now_ = doing::greeting;
    ask(seam::hello{});
}

void client::want() {
    seam::claim_spec spec{.name = "n" + std::to_string(home_.draws().below(home_.how().names))};
    if (home_.draws().one_in(4)) spec.mode = claim_mode::shared;
    if (spec.mode == claim_mode::exclusive && home_.how().joins && home_.draws().one_in(2)) {
        spec.joins = true;
        spec.owner = "owner " + std::to_string(place_ / 2);
    }
    auto const longest = static_cast<std::uint64_t>(home_.how().longest_lease.count());
    spec.lease = std::chrono::milliseconds{longest / 4 + home_.draws().below(3 * longest / 4)};
    wanted_ = {std::make_shared<seam::claim_spec const>(std::move(spec)),
               {self_->id, ++last_claim_}};
    tries_ = 0;
    ask(seam::watch{{lock_kind::lock, wanted_.name(), seam::holders_part}});
    submit();
}

void client::submit() {
    now_ = doing::asking;
    ++turn_;
    ask(seam::submit{.subject = wanted_, .not_after = stores::quorum::store_time_of(time() + 1s)});
}

void client::on_answer(seam::reply const& answer) {
    bool const failed = std::holds_alternative<seam::failure>(answer.body);
    switch (now_) {
    case doing::greeting: return failed ? later(100ms, &client::greet) : want();
    case doing::asking: return on_submitted(answer);
    case doing::ending:
        if (failed) return later(50ms, &client::settle);
        if (keep_for_ > 0ms && std::get<seam::settled>(answer.body).how == seam::ending::released) {
            auto kept = held();
            kept.until = kept_until_;
            home_.held().on_kept(kept, home_.now());
        }
        return rest();
    default: return;
    }
}

void client::on_submitted(seam::reply const& answer) {
    if (auto const* const yes = std::get_if<seam::granted>(&answer.body)) {
        auto const& held = yes->held;
        return hold(base::instant{std::chrono::duration_cast<nanos>(held.began.time_since_epoch())},
                    static_cast<std::uint64_t>(held.number));
    }
    now_ = doing::waiting;
    if (std::holds_alternative<seam::failure>(answer.body)) {
        home_.result().failed++;
        return later(20ms + nanos{home_.draws().below(80'000'000)}, &client::submit);
    }
    auto const span = std::min<nanos>(500ms, 10ms * (1LL << std::min(tries_++, 6)));
    auto wait = span / 2 + nanos{home_.draws().below(static_cast<std::uint64_t>(span.count() / 2))};
    auto const* const no = std::get_if<seam::refused>(&answer.body);
    if (no != nullptr && no->blocked_for > 0ms)
        wait = std::min<nanos>(wait, no->blocked_for + 1ms + nanos{home_.draws().below(4'000'000)});
    later(wait, &client::submit);
}

// As the engine computes it.
base::instant client::deadline(base::instant began) const {
    nanos const lease = wanted_.spec->lease;
    return began + lease - lease / stores::quorum::drift - 2ms;
}

void client::hold(base::instant began, std::uint64_t number) {
    until_ = deadline(began);
    if (until_ <= time()) return release();
    now_ = doing::holding;
    ++home_.result().grants;
    shared_ = wanted_.spec->mode == claim_mode::shared;
    number_ = number;
    home_.held().on_granted(held(), home_.now());
    nanos const lease = wanted_.spec->lease;
    auto const span = home_.is_quiet()             ? nanos{10ms}
                      : home_.how().leaves_nothing ? nanos{500ms}
                      : home_.draws().one_in(3)    ? 3 * lease
                                                   : lease / 8;
    hold_until_ = time() + nanos{home_.draws().below(static_cast<std::uint64_t>(span.count()))};
    renew();
}

promises::grant client::held() const {
    return {place_,  wanted_.name(), std::string{wanted_.spec->owner.get()},
            shared_, number_,        truth(until_)};
}

// As the engine does: from the request on it is content with less, whatever is answered.
void client::downgrade() {
    shared_ = true;
    home_.held().on_downgraded(place_, wanted_.name());
    machine_.take(seam::request_id{++last_request_}, seam::convert{wanted_, claim_mode::shared, 1},
                  time());
    step();
}

// Renews, or lets go, when it is time for it; and finds out that nothing was answered.
void client::renew() {
    if (time() >= until_) return lose();
    if (time() >= hold_until_) return release();
    nanos const lease = wanted_.spec->lease;
    auto const left = std::min(until_, hold_until_) - time();
    if (until_ - time() < 2 * lease / 3) {
        seam::request_id const id{++last_request_};
        renewals_.insert(id);
        machine_.take(id, seam::renew{.items = {{wanted_, wanted_.spec->lease}}}, time());
        step();
        if (now_ != doing::holding) return;
    }
    if (home_.how().downgrades && !shared_ && !wanted_.spec->joins && home_.draws().one_in(6)) {
        downgrade();
        if (now_ != doing::holding) return;
    }
    later(std::min<nanos>(left + 1us, lease / 6), &client::renew);
}

void client::on_renewed(seam::renewed const& answer) {
    auto const& item = answer.items.front();
    if (item.found == seam::renewal::status::gone) return lose();
    if (item.found != seam::renewal::status::alive || time() >= until_) return;
    auto const began =
        base::instant{std::chrono::duration_cast<nanos>(item.held.began.time_since_epoch())};
    until_ = std::max(until_, deadline(began));
    home_.held().on_renewed(place_, wanted_.name(), truth(until_), home_.now());
}

void client::lose() {
    ++home_.result().lost;
    release();
}

void client::release() {
    keep_for_ = 0ms;
    if (now_ == doing::holding) {
        home_.held().on_ended(place_, wanted_.name());
        if (home_.is_quiet()) ++served_;
        auto const longest = static_cast<std::uint64_t>(home_.how().longest_lease.count());
        if (home_.how().keeps && !home_.is_quiet() && time() < until_ && home_.draws().one_in(3))
            keep_for_ = std::chrono::milliseconds{
                1 + home_.draws().below(home_.how().longest_keep * longest)};
        nanos const keep = keep_for_;
        kept_until_ = home_.now() + keep - keep / stores::quorum::drift;
    }
    renewals_.clear();
    settle();
}

void client::settle() {
    now_ = doing::ending;
    ++turn_;
    ask(seam::settle{.subject = wanted_, .keep_for = keep_for_});
}

void client::rest() {
    now_ = doing::resting;
    ask(seam::unwatch{{lock_kind::lock, wanted_.name(), seam::holders_part}});
    if (!home_.is_ending()) later(nanos{home_.draws().below(30'000'000)}, &client::greet);
}

}  // namespace holdfast::quorum_tests
