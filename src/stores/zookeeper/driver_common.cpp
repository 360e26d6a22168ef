// The common session: everything but signs of life goes by it.
#include <utility>

#include "stores/zookeeper/driver.hpp"

namespace holdfast::stores::zookeeper {

namespace {

// Longer than that of other sessions, where the servers allow it: nothing but clearing up depends on it.
constexpr std::chrono::milliseconds common_session{40'000};

}  // namespace

link& driver::common() {
    if (common_ && !common_->is_expired()) return *common_;
    if (common_) over_.push_back(std::move(common_));
    common_ = std::make_unique<link>(
        settings_, poller_, ++last_tag_, common_session,
        link::listener{.on_connected = [this] { on_common_connected(); },
                       .on_lost =
                           [this] {
                               lost_ = true;
                               doubt("the connection to ZooKeeper at " + settings_.shown() +
                                     " is lost");
                           },
                       .on_expired = [this] { on_common_expired(); },
                       .on_event = [this](std::string const& path) { on_event(path); }});
    return *common_;
}

void driver::on_common_connected() {
    if (std::exchange(lost_, false))
        doubt("the connection to ZooKeeper at " + settings_.shown() + " is back");
    // A new session may be served by one who lags behind. What is written has passed the leader, and is seen by
    // whoever reads afterwards.
    greet(answer::nowhere);
}

// First it is tried whether everything is there, then each folder is made, and then it is tried again.
void driver::greet(std::size_t folder) {
    auto const folders = paths_.folders();
    bool const making = folder < folders.size();
    operation const what = making ? operation{operation::kind::create, folders[folder]}
                                  : operation{operation::kind::set, paths_.sessions()};
    common_->send_first({.what = request::kind::together,
                         .operations = {what},
                         .then = [this, folder, making](answer& from) {
                             if (!making && from.code == ZNONODE && folder == answer::nowhere)
                                 return greet(0);
                             bool const there = making && from.code == ZNODEEXISTS;
                             // Who may not make a parent may find that it is there.
                             if (making && (there || from.code == ZOK || from.code == ZNOAUTH))
                                 return greet(folder + 1);
                             if (from.code == ZOK) {
                                 note_clock(from.stat);
                                 return on_greeted();
                             }
                             if (from.failed != answer::nowhere) common_->give_up(from.code);
                         }});
}

void driver::on_greeted() {
    common_->let_pass();
    if (!std::exchange(gap_, false)) return;
    for (auto const& [key, watched] : names_)
        to_watch_.insert(key);
    for (auto& [id, when] : sessions_)
        when = {};
    for (auto const& [id, session] : own_)
        session->hears = false;
    tend();
    tell_gap();
}

// From when there is a connection on, nothing is missed any more.
void driver::tell_gap() {
    exists(paths_.sessions(), [this](answer&) { post([](auto& to) { to.on_gap(); }); });
}

// Claims in lines are gone with it, and so are its watches.
void driver::on_common_expired() {
    watched_.clear();
    gap_ = true;
    doubt("ZooKeeper at " + settings_.shown() +
          " has ended the session by which this client hears");
}

void driver::on_event(std::string const& path) {
    auto const found = watched_.find(path);
    if (found == watched_.end()) return;
    auto const then = std::move(found->second);
    watched_.erase(found);
    then();
}

void driver::get(std::string path, reader then, bool watch) {
    common().send({.what = request::kind::get,
                   .path = std::move(path),
                   .watch = watch,
                   .then = std::move(then)});
}

void driver::children(std::string path, reader then) {
    common().send(
        {.what = request::kind::children, .path = std::move(path), .then = std::move(then)});
}

void driver::exists(std::string path, reader then, bool watch) {
    common().send({.what = request::kind::exists,
                   .path = std::move(path),
                   .watch = watch,
                   .then = std::move(then)});
}

void driver::together(std::vector<operation> what, reader then) {
    common().send(
        {.what = request::kind::together, .operations = std::move(what), .then = std::move(then)});
}

}  // namespace holdfast::stores::zookeeper
