#include "stores/redis/replication.hpp"

#include <algorithm>

#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

namespace {

using namespace std::chrono_literals;

enum step : std::size_t { written, counted };

}  // namespace

replication::replication(std::shared_ptr<settings const> to, std::string name,
                         std::function<std::string()> key, std::function<void(news)> release,
                         net::poller& events, net::poller::tag about, std::uint64_t seed)
    : to_{to}, key_{std::move(key)}, release_{std::move(release)}, line_{std::move(to),
                                                                         std::move(name),
                                                                         *this,
                                                                         events,
                                                                         about,
                                                                         seed} {
    line_.vet(false);
}

bool replication::concerns(seam::reply const& what) {
    if (auto const* const renewed = std::get_if<seam::renewed>(&what.body))
        return std::ranges::any_of(renewed->items, [](seam::renewal const& each) {
            return each.found == seam::renewal::status::alive;
        });
    return std::holds_alternative<seam::granted>(what.body) ||
           std::holds_alternative<seam::swapped>(what.body);
}

void replication::keep(seam::request_id id, seam::reply what, base::instant now,
                       std::chrono::milliseconds answer_within) {
    now_ = now;
    waiting_.replies.emplace_back(id, std::move(what));
    if (answer_within_ == 0ms || (answer_within > 0ms && answer_within < answer_within_))
        answer_within_ = answer_within;
    if (!under_way_) return ask();
    // Not even the write was answered: the round ends here, and what waits has the next one.
    if (line_.seems_dead(now)) line_.cut(unreachable("it fell silent", *to_), now);
}

void replication::keep(seam::notice what, base::instant now) {
    now_ = now;
    waiting_.notices.push_back(std::move(what));
    if (!under_way_) ask();
}

void replication::ask() {
    under_way_ = true;
    refused_.reset();
    asked_ = std::exchange(waiting_, {});
    constexpr std::chrono::seconds kept_for{60};
    command write{"SET"};
    write << key_() << "1"
          << "EX" << kept_for.count();
    line_.send(std::move(write), *this, written, now_, std::exchange(answer_within_, 0ms));
    // The server must give up before we do, and looks at its clock ten times a second.
    command wait{"WAIT"};
    wait << to_->replicas << std::max<std::int64_t>(1, to_->timeout.count() / 2);
    line_.send(std::move(wait), *this, counted, now_);
}

void replication::on_answer(std::size_t which, answer const& what, seam::clock_id clock) {
    if (which == written) return;
    answer_reader in{what};
    auto const confirmed = in.number(UINT32_MAX);
    if (line_.clock_is_shared()) leave_others(clock);
    if (refused_ || confirmed >= to_->replicas) return finish(refused_);
    finish(base::error{errc::store_unavailable,
                       "only " + std::to_string(confirmed) + " of " +
                           std::to_string(to_->replicas) + " replicas of the server " +
                           to_->shown() + " confirmed in time; see the option 'replicas'"});
}

// Another server may have come to stand behind the address between an answer and its confirmation: what its replicas
// have says nothing of what the one before had promised. A grant that was only told is asked for.
void replication::leave_others(seam::clock_id clock) {
    for (auto& [id, reply] : asked_.replies)
        if (reply.clock != clock) reply = {{}, seam::failure{another_server(*to_)}, clock};
    for (auto& each : asked_.notices)
        if (auto* const told = std::get_if<seam::claim_granted>(&each); told->clock != clock)
            told->clock = {};
}

void replication::end(base::error const& why, base::instant now) {
    now_ = now;
    for (auto& each : std::exchange(waiting_.replies, {}))
        asked_.replies.push_back(std::move(each));
    waiting_ = {};
    if (under_way_) return line_.cut(why, now);
    finish(why);
}

void replication::on_failure(std::size_t which, base::error const& why) {
    if (which == written) {
        refused_ = why;
    } else {
        finish(why);
    }
}

// What is not confirmed is unknown: the claims are asked for again. A notice is a hint and is dropped.
void replication::finish(std::optional<base::error> why) {
    auto out = std::exchange(asked_, {});
    if (why) {
        for (auto& [id, reply] : out.replies)
            reply = {{}, seam::failure{*why}};
        out.notices.clear();
    }
    under_way_ = false;
    release_(std::move(out));
    if (!waiting_.empty()) ask();
}

void replication::on_push(answer const&) { throw garbled{"an answer came that nobody asked for"}; }

void replication::on_break(base::error const&) {}

// The slot of the write has moved. Elsewhere it would confirm nothing of this server; the next round has another slot.
bool replication::takes_over(question& what, std::string_view words) {
    if (!words.starts_with("MOVED ") && !words.starts_with("ASK ")) return false;
    what.from->on_failure(what.which, unreachable("the slot that was written to has moved", *to_));
    return true;
}

}  // namespace holdfast::stores::redis
