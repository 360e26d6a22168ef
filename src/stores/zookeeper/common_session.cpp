#include "stores/zookeeper/common_session.hpp"

#include <utility>

namespace holdfast::stores::zookeeper {

namespace {

// Longer than that of other sessions, where the servers allow it: nothing but clearing up depends on it.
constexpr std::chrono::milliseconds time_out{40'000};

}  // namespace

// --- requests ----------------------------------------------------------------------------------

void common_session::send(request what) {
    if (!closed_) current().send(std::move(what));
}

void common_session::get(std::string path, reader then) {
    send({.what = request::kind::get, .path = std::move(path), .then = std::move(then)});
}

void common_session::children(std::string path, reader then) {
    send({.what = request::kind::children, .path = std::move(path), .then = std::move(then)});
}

void common_session::exists(std::string path, reader then) {
    send({.what = request::kind::exists, .path = std::move(path), .then = std::move(then)});
}

void common_session::sync(reader then) {
    send({.what = request::kind::sync, .path = with_.at.sessions(), .then = std::move(then)});
}

void common_session::together(std::vector<operation> what, reader then) {
    send({.what = request::kind::together, .operations = std::move(what), .then = std::move(then)});
}

void common_session::get_and_watch(std::string const& path, change changed, reader then) {
    watched_[path] = std::move(changed);
    send({.what = request::kind::get, .path = path, .watch = true, .then = std::move(then)});
}

void common_session::exists_and_watch(std::string const& path, change changed, reader then) {
    watched_[path] = std::move(changed);
    send({.what = request::kind::exists, .path = path, .watch = true, .then = std::move(then)});
}

// From when there is a connection on, nothing is missed any more.
void common_session::tell_gap() {
    exists(with_.at.sessions(), [this](answer&) { with_.told.gap(); });
}

// --- the session -------------------------------------------------------------------------------

session_handle& common_session::current() {
    if (handle_ && !handle_->is_expired()) return *handle_;
    if (handle_) {
        with_.over.push_back(std::move(handle_));
        next_ = base::boot_clock::now() + pause_.next();
    }
    handle_ = std::make_unique<session_handle>(
        with_.surroundings(), ++with_.last_tag, time_out,
        session_handle::listener{.on_connected = [this] { on_connected(); },
                                 .on_lost =
                                     [this] {
                                         lost_ = true;
                                         with_.doubt("the connection to ZooKeeper at " +
                                                     with_.given.shown() + " is lost");
                                     },
                                 .on_expired = [this] { on_expired(); },
                                 .on_event = [this](std::string const& path) { on_event(path); }},
        next_);
    return *handle_;
}

void common_session::on_connected() {
    if (std::exchange(lost_, false))
        with_.doubt("the connection to ZooKeeper at " + with_.given.shown() + " is back");
    // A new session may be served by one who lags behind. What is written has passed the leader, and is seen by
    // whoever reads afterwards.
    greet(answer::nowhere);
}

// First it is tried whether everything is there, then each folder is made, and then it is tried again.
void common_session::greet(std::size_t folder) {
    auto const folders = with_.at.folders();
    bool const making = folder < folders.size();
    operation const what = making ? operation{operation::kind::create, folders[folder]}
                                  : operation{operation::kind::set, with_.at.sessions()};
    handle_->send_first({.what = request::kind::together,
                         .operations = {what},
                         .then = [this, folder, making](answer& from) {
                             if (!making && from.code == ZNONODE && folder == answer::nowhere)
                                 return greet(0);
                             bool const there = making && from.code == ZNODEEXISTS;
                             // Who may not make a parent may find that it is there.
                             if (making && (there || from.code == ZOK || from.code == ZNOAUTH))
                                 return greet(folder + 1);
                             if (from.code == ZOK) {
                                 with_.clock.note(from.stat);
                                 return on_greeted();
                             }
                             if (from.failed != answer::nowhere) on_refused(from);
                         }});
}

// For whatever reason, which may go away: another session tries again.
void common_session::on_refused(answer const& from) {
    watched_.clear();
    another_ = true;
    handle_->give_up(from.code);
}

void common_session::on_greeted() {
    pause_.reset();
    handle_->let_pass();
    if (!std::exchange(another_, false)) return;
    renew_();
    tell_gap();
}

// Claims in lines are gone with it, and so are its watches.
void common_session::on_expired() {
    watched_.clear();
    another_ = true;
    with_.doubt("ZooKeeper at " + with_.given.shown() +
                " has ended the session by which this client hears");
}

void common_session::on_event(std::string const& path) {
    auto const found = watched_.find(path);
    if (found == watched_.end()) return;
    auto const then = std::move(found->second);
    watched_.erase(found);
    then();
}

// --- driving -----------------------------------------------------------------------------------

void common_session::tend(base::instant now) {
    if (another_ && handle_->is_expired()) static_cast<void>(current());
    if (handle_) handle_->tend(now);
}

void common_session::take(net::poller::event const& event) {
    if (handle_ && handle_->tag() == event.about) handle_->process(event.kinds);
}

void common_session::close() {
    closed_ = true;
    handle_.reset();
}

void common_session::abandon() noexcept {
    if (handle_) handle_->abandon();
}

}  // namespace holdfast::stores::zookeeper
