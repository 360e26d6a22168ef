// The part of a link that waits, and hears what its servers tell.
#include <algorithm>
#include <thread>
#include <utility>

#include "stores/redis/fault.hpp"
#include "stores/redis/link.hpp"

namespace holdfast::stores::redis {

namespace {

// Whether any had more to tell than could be read in one turn.
bool have_more(servers const& all, hearing const& messages) noexcept {
    return all.has_more() || messages.has_more();
}

// Where many are under way, the processor has better things to do than to look for their answers.
template <class Requests>
bool are_few(Requests const& under_way) noexcept {
    constexpr std::size_t few = 2;  // a thread that lets go of one name and takes the next
    return !under_way.empty() && under_way.size() <= few;
}

// A mutex is not fair: a thread that has been woken for it comes too late when the driver takes it back
// at once, again and again.
void give_way(std::atomic<int> const& senders) noexcept {
    constexpr int most = 1000;
    for (int i = 0; senders > 0 && i < most; ++i)
        std::this_thread::yield();
}

}  // namespace

void link::drive(base::instant until) {
    if (abandoned_) return;
    base::lock_guard const held{mutex_};
    driven_ = true;
    drive_locked(until);
    servers_.flush(now_, true);  // what was left while the sink was told
    poller_.wake_by(next_due());
    // What TLS has read ahead shows at no socket, and neither does what a broken connection tells: whoever waits for the
    // descriptor must come back for it.
    if (have_more(servers_, hearing_) || !deliveries_.empty()) poller_.wake();
    driven_ = false;
}

void link::flush() noexcept {
    if (abandoned_) return;
    base::lock_guard const held{mutex_};
    if (driven_ || shut_) return;
    servers_.flush(base::boot_clock::now(), false);
    poller_.wake_by(next_due());
    if (!deliveries_.empty()) poller_.wake();
}

void link::drive_locked(base::instant until) {
    for (bool looked = false;; looked = true) {
        poller_.forget_wakes();
        now_ = base::boot_clock::now();
        tend();
        if (deliver()) {
            interrupted_ = false;  // whoever called while the sink was told: this is the return
            return;
        }
        if (interrupted_.exchange(false) || (looked && now_ >= until) || shut_) return;
        // Who drives many waits for their descriptors, and only takes what is there: that sets no timer.
        bool const only_looks = !looked && now_ >= until;
        if (!only_looks) poller_.wake_by(std::min(until, next_due()));
        bool const more = have_more(servers_, hearing_);
        if (more) poller_.wake();
        auto const wait_until = only_looks ? now_ : base::never;
        bool const soon = are_few(pending_);
        std::span<net::poller::event const> events;
        {
            base::unlocked const meanwhile{mutex_};
            events = poller_.wait(wait_until, soon);
            if (more) give_way(senders_);
        }
        now_ = base::boot_clock::now();
        take(events);
    }
}

// Reads from those that are ready, or had more than could be read in one turn.
void link::take(std::span<net::poller::event const> events) {
    bool const more_messages = hearing_.has_more();
    if (servers_.has_more()) servers_.take_rest(now_);
    for (auto const& each : events) {
        if (each.about != servers::own_tag) {
            servers_.take(each.about, now_);
        } else if (!more_messages) {
            hearing_.on_ready(now_);
        }
    }
    if (more_messages) hearing_.on_ready(now_);
}

void link::tend() {
    if (shut_) return;
    if (now_ >= watch_again_at_) watch_again();
    servers_.tend(now_);
    for (auto const& each : early_.take_expired(now_))
        deliveries_.add(
            each.id,
            {{},
             seam::failure{unreachable("nobody tells in time which server to ask", *settings_)}});
    hearing_.tend(servers_, known_, now_);
}

base::instant link::next_due() const noexcept {
    return std::min({servers_.next_due(), watch_again_at_, early_.next_due(), hearing_.next_due()});
}

bool link::deliver() {
    if (deliveries_.empty()) return false;
    auto ready = std::exchange(deliveries_, {});
    base::unlocked const meanwhile{mutex_};
    ready.hand_over(sink_, log_);
    return ready.concern_sink();
}

void link::interrupt() noexcept {
    if (abandoned_) return;
    interrupted_ = true;
    poller_.wake();
}

void link::shut() noexcept {
    if (abandoned_) return;
    base::lock_guard const held{mutex_};
    if (std::exchange(shut_, true)) return;
    base::error const why{errc::closed, "the store is shut"};
    servers_.cut(why, now_);
    hearing_.cut(why, now_);
    deliveries_ = {};
}

// A thread of the parent may have been at work at the moment of the fork: then nothing is touched.
void link::abandon() noexcept {
    abandoned_ = true;
    if (!mutex_.try_lock()) return;
    base::lock_guard const held{mutex_, std::adopt_lock};
    servers_.abandon();
    hearing_.abandon();
}

// --- what the servers tell -----------------------------------------------------------------------

// A connection that is open may break with the first command: only an answer tells that it works.
void link::on_carried_out(seam::clock_id by) {
    if (!down_) return;
    auto* const server = servers_.find(by);
    if (server == nullptr) return;
    if (std::exchange(server->down, false))
        say(log_level::info, "the server " + server->target().shown() + " is reached again");
    down_ = servers_.are_down();
}

bool link::warn(log_limit& kind, std::string words) {
    auto line = kind.admit(std::move(words), now_);
    if (line) say(log_level::warning, *std::move(line));
    return line.has_value();
}

void link::on_break(node& to, base::error const& why) {
    mutex_.assert_held();
    if (shut_ || to.down) return;
    to.down = warn(to.trouble, why.text);
    down_ = down_ || to.down;
}

// Whoever waits is told why, as when a connection cannot be made.
void link::on_unknown(base::error const& why) {
    mutex_.assert_held();
    for (auto const& each : early_.take())
        deliveries_.add(each.id, {{}, seam::failure{why}});
    if (!shut_) warn(about_servers_, why.text);
}

// What the one before knew, and this one does not, is lost; what was watched there is watched here.
void link::on_another() {
    mutex_.assert_held();
    deliveries_.add(seam::session_changed{seam::session_changed::state::restored,
                                          "another server has come to answer"});
    if (!watched_.empty()) watch_again();
}

void link::on_confirmed(replication::news what) {
    mutex_.assert_held();
    for (auto& [id, reply] : what.replies)
        deliveries_.add(id, std::move(reply));
    for (auto& each : what.notices)
        deliveries_.add(std::move(each));
}

void link::on_message(std::string_view message) {
    mutex_.assert_held();
    auto what = layout_->read(message);
    if (!what.warning.empty()) say(log_level::warning, std::move(what.warning));
    if (what.notice) tell(std::move(*what.notice));
}

void link::on_heard() {
    mutex_.assert_held();
    if (!watched_.empty()) watch_again();
}

void link::on_restored() {
    mutex_.assert_held();
    deliveries_.add(seam::session_changed{seam::session_changed::state::restored,
                                          "messages of the server arrive again"});
}

void link::on_unheard(base::error const& why) {
    mutex_.assert_held();
    if (!shut_) warn(about_messages_, "no messages arrive: " + why.text);
}

}  // namespace holdfast::stores::redis
