#include "stores/redis/link.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

namespace {

// The server forgets a watch after a minute.
constexpr std::chrono::seconds watch_every{20};

// With so many commands under way, a further one waits until the driver has read some answers, and
// goes out with others in one piece. Below, it is written at once.
constexpr std::size_t gather_from = 8;

}  // namespace

link::link(settings wanted, seam::identity const& self, seam::event_sink& sink, log_function log)
    : settings_{std::make_shared<settings const>(std::move(wanted))},
      sink_{sink},
      log_{std::move(log)},
      layout_{settings_->layout == layout_name::plain ? make_plain_layout(*settings_, self)
                                                      : make_native_layout(*settings_, self)},
      connections_{settings_,
                   self,
                   layout_->channel(),
                   {*this, *this, [this](replication::news what) { pass_on(std::move(what)); }},
                   poller_} {}

link::~link() {
    pending_.clear_and_dispose([](pending_request* request) { delete request; });
}

// --- requests ----------------------------------------------------------------------------------

std::optional<seam::reply> link::send(seam::request_id id, seam::request what) {
    auto const* const submitted = std::get_if<seam::submit>(&what);
    auto const* const watched = std::get_if<seam::watch>(&what);
    auto const* const unwatched = std::get_if<seam::unwatch>(&what);
    bool const listens = watched != nullptr || (submitted != nullptr && submitted->queue);
    std::optional<seam::cell_key> key;
    if (watched != nullptr) key = watched->key;
    if (unwatched != nullptr) key = unwatched->key;
    bool const on = watched != nullptr;
    std::chrono::milliseconds answer_within{0};
    if (auto const* const renewal = std::get_if<seam::renew>(&what))
        answer_within = renewal->answer_within;
    bool const is_renewal = std::holds_alternative<seam::renew>(what);

    auto exchange = layout_->begin(std::move(what));
    if (exchange->outbox.empty()) return exchange->close();
    ++senders_;
    guard const held{mutex_};
    --senders_;
    if (shut_ || abandoned_)
        return seam::reply{{}, seam::failure{{errc::closed, "the store is shut"}}};
    now_ = base::boot_clock::now();
    auto& commands = connections_.commands;
    auto const meant_for = exchange->outbox.front().only_for;
    if (meant_for != seam::clock_id{} && commands.is_ready() && meant_for != commands.clock())
        return seam::reply{{}, seam::failure{another_server(*settings_)}, commands.clock()};
    if (key && connections_.messages) on ? void(watched_.insert(*key)) : void(watched_.erase(*key));
    if (on && watch_again_at_ == base::never) watch_again_at_ = now_ + watch_every;
    if (answer_within > std::chrono::milliseconds::zero() &&
        connections_.leave_dead(answer_within, now_))
        poller_.wake();
    auto const before = commands.unanswered();
    auto& request = launch(std::move(exchange), id);
    request.answer_within = answer_within;
    if (listens && connections_.messages && !connections_.messages->is_heard()) listen(request);
    advance(request);
    write_or_leave(is_renewal ? 0 : before);
    poller_.wake_by(next_due());
    return std::nullopt;
}

pending_request& link::launch(std::unique_ptr<exchange> what, std::optional<seam::request_id> id) {
    auto* const request = new pending_request{*this, std::move(what), id};
    pending_.push_back(*request);
    return *request;
}

void link::listen(pending_request& request) {
    request.deaf = true;
    ++deaf_;
    connections_.messages->start();
    poller_.wake();
}

// Sends what the request wants sent; when nothing is under way any more, it is complete.
void link::advance(pending_request& request) {
    request.send_over(connections_.commands, now_);
    if (!request.is_answered()) return;
    complete(request);
    pending_.erase_and_dispose(pending_.iterator_to(request),
                               [](pending_request* whole) { delete whole; });
}

void link::on_answered(pending_request& request, bool carried_out) {
    if (carried_out) on_carried_out();
    advance(request);
}

void link::complete(pending_request& request) {
    if (!request.id()) return;
    auto reply = request.close();
    if (reply.clock == seam::clock_id{}) reply.clock = connections_.commands.clock();
    bool const waits = std::holds_alternative<seam::queued>(reply.body) ||
                       std::holds_alternative<seam::done>(reply.body);
    if (request.deaf) {
        --deaf_;
        missed_ = missed_ || waits;
        say_restored();
    }
    if (connections_.replicas && replication::concerns(reply)) {
        connections_.replicas->keep(*request.id(), std::move(reply), now_, request.answer_within);
    } else {
        deliveries_.add(*request.id(), std::move(reply));
    }
}

void link::pass_on(replication::news confirmed) {
    for (auto& [id, reply] : confirmed.replies)
        deliveries_.add(id, std::move(reply));
    for (auto& each : confirmed.notices)
        deliveries_.add(std::move(each));
}

void link::tell(seam::notice what) {
    if (connections_.replicas && std::holds_alternative<seam::claim_granted>(what)) {
        connections_.replicas->keep(std::move(what), now_);
    } else {
        deliveries_.add(std::move(what));
    }
}

// The calling thread writes by itself when little is under way: it saves the driver's awakening.
void link::write_or_leave(std::size_t before) {
    auto& commands = connections_.commands;
    if (!commands.is_ready()) return poller_.wake();
    if (driven_ && before >= gather_from) return;
    commands.flush(now_);
    if (!commands.is_ready()) poller_.wake();
}

// --- driving -----------------------------------------------------------------------------------

void link::drive(base::instant until) {
    if (abandoned_) return;
    guard held{mutex_};
    driven_ = true;
    drive(held, until);
    connections_.commands.flush(now_);  // what was left while the sink was told
    poller_.wake_by(next_due());
    driven_ = false;
}

void link::drive(guard& held, base::instant until) {
    for (bool looked = false;; looked = true) {
        poller_.forget_wakes();
        now_ = base::boot_clock::now();
        tend();
        if (deliver(held)) {
            interrupted_ = false;  // whoever called while the sink was told: this is the return
            return;
        }
        if (interrupted_.exchange(false) || (looked && now_ >= until) || shut_) return;
        poller_.wake_by(std::min(until, next_due()));
        bool const more = connections_.has_more();
        if (more) poller_.wake();
        held.unlock();
        auto const events = poller_.wait();
        if (more) give_way();
        held.lock();
        now_ = base::boot_clock::now();
        connections_.take(events, now_);
    }
}

// A mutex is not fair: a thread that has been woken for it comes too late when the driver takes it back
// at once, again and again.
void link::give_way() const noexcept {
    constexpr int most = 1000;
    for (int i = 0; senders_ > 0 && i < most; ++i)
        std::this_thread::yield();
}

void link::tend() {
    if (shut_) return;
    if (now_ >= watch_again_at_) watch_again();
    connections_.tend(now_);
}

base::instant link::next_due() const noexcept {
    return std::min(connections_.next_due(), watch_again_at_);
}

void link::watch_again() {
    watch_again_at_ = watched_.empty() ? base::never : now_ + watch_every;
    for (auto const& key : watched_)
        advance(launch(layout_->begin(seam::watch{key}), std::nullopt));
}

bool link::deliver(guard& held) {
    if (deliveries_.empty()) return false;
    auto ready = std::exchange(deliveries_, {});
    held.unlock();
    ready.hand_over(sink_, log_);
    held.lock();
    return ready.concern_sink();
}

void link::interrupt() noexcept {
    if (abandoned_) return;
    interrupted_ = true;
    poller_.wake();
}

void link::shut() noexcept {
    if (abandoned_) return;
    guard const held{mutex_};
    if (std::exchange(shut_, true)) return;
    base::error const why{errc::closed, "the store is shut"};
    connections_.cut(why, now_);
    deliveries_ = {};
}

// A thread of the parent may have been at work at the moment of the fork: then nothing is touched.
void link::abandon() noexcept {
    abandoned_ = true;
    guard const held{mutex_, std::try_to_lock};
    if (held) connections_.abandon();
}

// --- what the connections tell -----------------------------------------------------------------

// A connection that is open may break with the first command: only an answer tells that it works.
void link::on_carried_out() {
    if (std::exchange(down_, false))
        say(log_level::info, "the server " + settings_->shown() + " is reached again");
}

bool link::warn(log_limit& kind, std::string words) {
    auto line = kind.admit(std::move(words), now_);
    if (line) say(log_level::warning, *std::move(line));
    return line.has_value();
}

void link::on_push(answer const&) { throw garbled{"an answer came that nobody asked for"}; }

void link::on_break(base::error const& why) {
    if (!shut_ && !down_) down_ = warn(about_connection_, why.text);
}

void link::on_message(std::string_view message) {
    auto what = layout_->read(message);
    if (!what.warning.empty()) say(log_level::warning, std::move(what.warning));
    if (what.notice) tell(std::move(*what.notice));
}

void link::on_subscribed() {
    if (std::exchange(heard_before_, true)) missed_ = true;
    if (!watched_.empty()) watch_again();
    say_restored();
}

// What waits was queued, or goes on waiting, since before anybody listened. Said once for all that were
// deaf together: whoever hears it asks for everything that waits.
void link::say_restored() {
    if (!missed_ || deaf_ > 0 || !connections_.messages->is_heard()) return;
    missed_ = false;
    deliveries_.add(seam::session_changed{seam::session_changed::state::restored,
                                          "messages of the server arrive again"});
}

void link::on_unsubscribed(base::error const& why) {
    if (!shut_) warn(about_messages_, "no messages arrive: " + why.text);
}

}  // namespace holdfast::stores::redis
