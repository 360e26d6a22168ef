#include "simulation/server.hpp"

#include <utility>

#include "simulation/compare/documents.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::microseconds;

// The wall clock from which a store that begins anew takes its sequences.
std::uint64_t wall(moment now) {
    constexpr std::uint64_t some_day = 1'700'000'000'000'000;
    return some_day + static_cast<std::uint64_t>(now.count() / 1'000);
}

}  // namespace

server::server(world& where, variant broken)
    : world_{where},
      broken_{std::move(broken)},
      offset_{where.random.below(1'000'000'000'000'000)},
      lanes_{where.plan, static_cast<std::uint64_t>(offset_.count()), clock(moment{0})} {
    begin_anew();
    if (!where.plan.session || where.plan.compares()) return;
    sessions_ = std::make_unique<sessions>(
        where,
        [this](seam::request const& what, sessions::notices& notices) {
            return handle(std::make_shared<seam::identity const>(), what, notices);
        },
        [this](sessions::notices notices) {
            for (auto& [to, notice] : notices)
                push(to, std::move(notice));
        });
}

server::~server() = default;

void server::begin_documents() { documents_ = std::make_unique<documents>(world_); }

void server::begin_anew() {
    auto const first = wall(world_.time.now());
    machine_ = std::make_unique<stores::memory::machine>(first);
    if (broken_.store) odd_ = broken_.store(first);
}

seam::store_time server::clock(moment when) const noexcept {
    return seam::store_time{offset_ + std::chrono::duration_cast<microseconds>(when)};
}

seam::store_time server::now() const noexcept { return clock(world_.time.now()); }

moment server::when(seam::store_time shown) const noexcept {
    return shown.time_since_epoch() - offset_;
}

void server::when_it_speaks(std::function<void()> what) {
    if (world_.time.now() >= silent_until_) return what();
    if (losing_) return;
    world_.time.at(silent_until_, [this, what = std::move(what)] { when_it_speaks(what); });
}

void server::receive(identity_ptr const& from, seam::request what, answer_to answer) {
    if (documents_ != nullptr) return documents_->operate(std::move(what));
    when_it_speaks([this, from, what = std::move(what), answer = std::move(answer)] {
        carry_out(from, what, nullptr, answer);
    });
}

void server::receive(identity_ptr const& from, seam::request what, route by, answer_to answer) {
    when_it_speaks([this, from, what = std::move(what), by, answer = std::move(answer)]() mutable {
        if (!lanes_.stands(by.to)) return;
        lanes_.shift_in(what);
        carry_out(from, std::move(what), &by.in, [this, &by, &answer](seam::reply reply) {
            lanes_.shift_out(reply, by.to.lane);
            answer(std::move(reply));
        });
    });
}

void server::receive_beat(session_ref which, std::function<void(bool)> answer) {
    when_it_speaks([this, which, answer = std::move(answer)] { answer(sessions_->touch(which)); });
}

seam::reply server::handle(identity_ptr const& from, seam::request const& what,
                           std::vector<stores::lease::directed_notice>& notices) {
    return odd_ != nullptr ? odd_->handle(from, what, now(), notices)
                           : machine_->handle(from, what, now(), notices);
}

void server::carry_out(identity_ptr const& from, seam::request what, session_ref const* in,
                       answer_to const& answer) {
    if (broken_.tamper) broken_.tamper(world_.seen, now(), what);
    std::vector<stores::lease::directed_notice> notices;
    bool const in_session = sessions_ != nullptr && in != nullptr;
    if (sessions_ != nullptr) sessions_->end_overdue();
    if (in_session && std::holds_alternative<seam::submit>(what) && !sessions_->touch(*in))
        return answer(
            {now(), seam::failure{{errc::store_unavailable, "the session has ended"}}, {}});
    auto reply = handle(from, in_session ? sessions::without_leases(what) : what, notices);
    if (sessions_ != nullptr)
        sessions_->carried_out(what, in != nullptr ? *in : session_ref{}, reply, notices);
    world_.seen.saw(what, reply, notices);
    world_.tell([&](checker& it) { it.carried_out(what, reply); });
    for (auto& [to, notice] : notices)
        push(to, std::move(notice));
    answer(std::move(reply));
}

void server::push(seam::client_id to, seam::notice what) {
    auto* const home = world_.find(to);
    if (home == nullptr) return;
    std::uint64_t session = 0;
    if (auto const* const granted = std::get_if<seam::claim_granted>(&what)) {
        if (sessions_ != nullptr) session = sessions_->session_of(granted->id);
        if (auto const* const hold = world_.seen.hold(granted->id))
            lanes_.shift_out(what, lanes_.lane_of(hold->spec->name));
    }
    home->net().push(std::move(what), session);
}

void server::fall_silent(moment until, bool lose) {
    silent_until_ = std::max(silent_until_, until);
    losing_ = lose;
}

void server::restart(bool empty) {
    if (empty) {
        world_.seen.forget_all();
        begin_anew();
        if (sessions_ != nullptr) sessions_->forget_all();
        world_.tell([](checker& it) { it.emptied(); });
    }
    for (auto const& each : world_.clients)
        each->net().cut();
}

void server::jump(microseconds forward) { offset_ += forward; }

void server::change_clock(seam::lane_id lane, std::optional<microseconds> ahead) {
    lanes_.change(lane, ahead);
    world_.note([&] {
        return "another server stands behind lane " +
               std::to_string(static_cast<std::uint32_t>(lane));
    });
    for (auto const& each : world_.clients)
        each->net().cut(lane);
}

}  // namespace holdfast::simulation
