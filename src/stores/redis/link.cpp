#include "stores/redis/link.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <thread>

#include "base/random.hpp"
#include "base/text.hpp"
#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

namespace {

// The server forgets a watch after a minute.
constexpr std::chrono::seconds watch_every{20};

// With so many commands under way, a further one waits until the driver has read some answers, and
// goes out with others in one piece. Below, it is written at once.
constexpr std::size_t gather_from = 8;

// A server that only paused keeps its subscription when it goes on within this time.
constexpr std::chrono::milliseconds shortest_probe{250};

std::string connection_name(seam::identity const& self, char const* role) {
    return "holdfast-" + base::hex(static_cast<std::uint64_t>(self.id)) + "-" + role;
}

}  // namespace

void link::pending::on_answer(std::size_t which, answer const& what) {
    its->on_answer(which, what);
    home.on_carried_out();
    --unanswered;
    home.advance(*this);
}

void link::pending::on_failure(std::size_t which, base::error const& why) {
    its->on_failure(which, why);
    --unanswered;
    home.advance(*this);
}

void link::pending::on_cut(std::size_t which, base::error const& why) {
    its->on_cut(which, why);
    --unanswered;
    home.advance(*this);
}

link::link(settings wanted, seam::identity const& self, seam::event_sink& sink, log_function log)
    : settings_{std::make_shared<settings const>(std::move(wanted))},
      sink_{sink},
      log_{std::move(log)},
      layout_{settings_->layout == layout_name::plain ? make_plain_layout(*settings_, self)
                                                      : make_native_layout(*settings_, self)},
      commands_{settings_, connection_name(self, "commands"), *this, [this] { lookout_.call(); },
                base::entropy()} {
    if (auto channel = layout_->channel(); !channel.empty())
        messages_.emplace(
            settings_, connection_name(self, "messages"), std::move(channel),
            static_cast<subscription::listener&>(*this), [this] { lookout_.call(); },
            base::entropy());
    if (settings_->replicas > 0)
        replicated_.emplace(
            settings_, connection_name(self, "replicas"), settings_->prefix + "replicated",
            [this](replication::news what) {
                std::ranges::move(what.replies, std::back_inserter(replies_));
                std::ranges::move(what.notices, std::back_inserter(notices_));
            },
            [this] { lookout_.call(); }, base::entropy());
}

link::~link() {
    flights_.clear_and_dispose([](pending* request) { delete request; });
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
    if (key && messages_) on ? void(watched_.insert(*key)) : void(watched_.erase(*key));
    if (on && watch_again_at_ == base::never) watch_again_at_ = now_ + watch_every;
    if (answer_within > std::chrono::milliseconds::zero()) cut_if_dead(answer_within);
    auto const before = commands_.unanswered();
    auto& request = launch(std::move(exchange), id);
    request.answer_within = answer_within;
    if (listens && messages_ && !messages_->is_heard()) listen(request);
    advance(request);
    write_or_leave(is_renewal ? 0 : before);
    lookout_.wake_by(next_due());
    return std::nullopt;
}

link::pending& link::launch(std::unique_ptr<exchange> what, std::optional<seam::request_id> id) {
    auto* const request = new pending{*this, std::move(what), id};
    flights_.push_back(*request);
    return *request;
}

void link::listen(pending& request) {
    request.deaf = true;
    ++deaf_;
    messages_->start();
    lookout_.call();
}

// A renewal that is asked for again must not follow the first one to where bytes vanish. What befalls
// one connection nearly always befalls those beside it.
void link::cut_if_dead(std::chrono::milliseconds answer_within) {
    if (!commands_.seems_dead(now_)) return;
    auto const why = unreachable("it fell silent; a fresh connection is tried", *settings_);
    commands_.cut(why, now_);
    if (messages_) messages_->probe(std::max(2 * answer_within, shortest_probe), now_);
    if (replicated_) replicated_->leave_idle_line(why, now_);
    lookout_.call();
}

// Sends what the request wants sent; when nothing is under way any more, it is complete.
void link::advance(pending& request) {
    for (auto& one : std::exchange(request.its->outbox, {})) {
        ++request.unanswered;
        commands_.send(std::move(one), request, request.sent++, now_, request.answer_within);
    }
    if (request.unanswered > 0) return;
    complete(request);
    flights_.erase_and_dispose(flights_.iterator_to(request), [](pending* whole) { delete whole; });
}

void link::complete(pending const& request) {
    if (!request.id) return;
    auto reply = request.its->close();
    bool const waits = std::holds_alternative<seam::queued>(reply.body) ||
                       std::holds_alternative<seam::done>(reply.body);
    if (request.deaf) {
        --deaf_;
        missed_ = missed_ || waits;
        say_restored();
    }
    if (replicated_ && replication::concerns(reply)) {
        replicated_->keep(*request.id, std::move(reply), now_, request.answer_within);
    } else {
        replies_.emplace_back(*request.id, std::move(reply));
    }
}

void link::tell(seam::notice what) {
    if (replicated_ && std::holds_alternative<seam::claim_granted>(what)) {
        replicated_->keep(std::move(what), now_);
    } else {
        notices_.push_back(std::move(what));
    }
}

// The calling thread writes by itself when little is under way: it saves the driver's awakening.
void link::write_or_leave(std::size_t before) {
    if (!commands_.is_ready()) return lookout_.call();
    if (driven_ && before >= gather_from) return;
    commands_.flush(now_);
    if (commands_.is_choked() || !commands_.is_ready()) lookout_.call();
}

// --- driving -----------------------------------------------------------------------------------

void link::drive(base::instant until) {
    if (abandoned_) return;
    guard held{mutex_};
    driven_ = true;
    drive(held, until);
    commands_.flush(now_);  // what was left while the sink was told
    driven_ = false;
}

void link::drive(guard& held, base::instant until) {
    for (;;) {
        lookout_.heed();
        now_ = base::boot_clock::now();
        tend(now_);
        if (deliver(held)) {
            interrupted_ = false;  // whoever called while the sink was told: this is the return
            return;
        }
        if (interrupted_.exchange(false) || now_ >= until || shut_) return;
        lookout_.wake_by(std::min(until, next_due()));
        std::array<watched_socket, lookout::most_sockets> sockets{commands_.socket()};
        if (messages_) sockets[1] = messages_->line().socket();
        if (replicated_) sockets[2] = replicated_->line().socket();
        bool const more = has_more();
        if (more) lookout_.call();
        held.unlock();
        lookout_.wait(sockets);
        if (more) give_way();
        held.lock();
        now_ = base::boot_clock::now();
        if (sockets[0].ready || commands_.has_more()) commands_.on_ready(now_);
        if (sockets[1].ready || (messages_ && messages_->line().has_more()))
            messages_->on_ready(now_);
        if (sockets[2].ready || (replicated_ && replicated_->line().has_more()))
            replicated_->line().on_ready(now_);
    }
}

bool link::has_more() const noexcept {
    return commands_.has_more() || (messages_ && messages_->line().has_more()) ||
           (replicated_ && replicated_->line().has_more());
}

// A mutex is not fair: a thread that has been woken for it comes too late when the driver takes it back
// at once, again and again.
void link::give_way() const noexcept {
    constexpr int most = 1000;
    for (int i = 0; senders_ > 0 && i < most; ++i)
        std::this_thread::yield();
}

void link::tend(base::instant now) {
    if (shut_) return;
    commands_.tend(now);
    if (messages_) messages_->tend(now);
    if (now >= watch_again_at_) watch_again();
    commands_.flush(now);
    if (messages_) messages_->flush(now);
    if (replicated_) replicated_->tend(now);
}

base::instant link::next_due() const noexcept {
    auto due = std::min(commands_.next_due(), watch_again_at_);
    if (messages_) due = std::min(due, messages_->next_due());
    if (replicated_) due = std::min(due, replicated_->line().next_due());
    return due;
}

void link::watch_again() {
    watch_again_at_ = watched_.empty() ? base::never : now_ + watch_every;
    for (auto const& key : watched_)
        advance(launch(layout_->begin(seam::watch{key}), std::nullopt));
}

bool link::deliver(guard& held) {
    if (replies_.empty() && notices_.empty() && words_.empty()) return false;
    auto replies = std::exchange(replies_, {});
    auto notices = std::exchange(notices_, {});
    auto words = std::exchange(words_, {});
    held.unlock();
    for (auto& [level, text] : words)
        log_(level, std::move(text));
    for (auto& [id, answer] : replies)
        sink_.on_reply(id, std::move(answer));
    for (auto& each : notices)
        sink_.on_notice(std::move(each));
    held.lock();
    return !replies.empty() || !notices.empty();
}

void link::interrupt() noexcept {
    if (abandoned_) return;
    interrupted_ = true;
    lookout_.call();
}

void link::shut() noexcept {
    if (abandoned_) return;
    guard const held{mutex_};
    if (std::exchange(shut_, true)) return;
    base::error const why{errc::closed, "the store is shut"};
    commands_.cut(why, now_);
    if (messages_) messages_->line().cut(why, now_);
    if (replicated_) replicated_->line().cut(why, now_);
    replies_.clear();
    notices_.clear();
    words_.clear();
}

// A thread of the parent may have been at work at the moment of the fork: then nothing is touched.
void link::abandon() noexcept {
    abandoned_ = true;
    guard const held{mutex_, std::try_to_lock};
    if (!held) return;
    commands_.abandon();
    if (messages_) messages_->line().abandon();
    if (replicated_) replicated_->line().abandon();
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
    if (!missed_ || deaf_ > 0 || !messages_->is_heard()) return;
    missed_ = false;
    notices_.push_back(seam::session_changed{seam::session_changed::state::restored,
                                             "messages of the server arrive again"});
}

void link::on_unsubscribed(base::error const& why) {
    if (!shut_) warn(about_messages_, "no messages arrive: " + why.text);
}

}  // namespace holdfast::stores::redis
