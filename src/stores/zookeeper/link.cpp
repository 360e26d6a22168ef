#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stores/zookeeper/link_call.hpp"

namespace holdfast::stores::zookeeper {

namespace {

ACL_vector const& acl_of(settings const& of) {
    return of.private_nodes ? ZOO_CREATOR_ALL_ACL : ZOO_OPEN_ACL_UNSAFE;
}

}  // namespace

link::link(settings const& to, net::poller& events, net::poller::tag about,
           std::chrono::milliseconds session, listener who)
    : settings_{to}, poller_{events}, about_{about}, tell_{std::move(who)} {
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // it would write to the program's stderr
    handle_ = zookeeper_init(to.hosts.c_str(), &link::on_watch, static_cast<int>(session.count()),
                             nullptr, this, 0);
    begun_ = base::boot_clock::now();
    expired_ = handle_ == nullptr;  // a host that nobody knows
    if (expired_) return;
    zoo_set_servers_resolution_delay(handle_, -1);
    if (!to.user.empty()) {
        auto const who_am_i = to.user + ":" + to.password;
        zoo_add_auth(handle_, "digest", who_am_i.data(), static_cast<int>(who_am_i.size()), nullptr,
                     nullptr);
    }
}

link::~link() {
    closing_ = true;
    registered_.end();
    if (handle_ != nullptr) zookeeper_close(handle_);
    for (auto& each : waiting_)
        refuse(each);
}

void link::abandon() noexcept {
    if (library_descriptor_ >= 0) ::close(library_descriptor_);
    handle_ = nullptr;  // its threads of thought are the parent's
}

std::chrono::milliseconds link::session_timeout() const {
    return std::chrono::milliseconds{zoo_recv_timeout(handle_)};
}

// --- requests ----------------------------------------------------------------------------------

void link::send(request what) {
    what.by = base::boot_clock::now() + settings_.timeout;
    if (expired_) return refuse(what);
    if (connected_ && passing_ && waiting_.empty()) return give(std::move(what));
    waiting_.push_back(std::move(what));
}

void link::let_pass() {
    passing_ = true;
    while (connected_ && !waiting_.empty()) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        give(std::move(next));
    }
}

void link::refuse(request& what, int code) {
    answer out{.code = code, .sent = false};
    if (what.then) what.then(out);
}

void link::give_up(int code) {
    expired_ = true;
    for (auto& each : std::exchange(waiting_, {}))
        refuse(each, code);
}

void link::give(request what) {
    auto const now = base::boot_clock::now();
    if (under_way_.empty()) progress_ = now;
    auto* const made = new call{.home = this, .then = std::move(what.then)};
    under_way_.insert(made);
    made->out.when = now;
    auto const* const path = what.path.c_str();
    int code = ZOK;
    switch (what.what) {
    case request::kind::get:
        code = zoo_aget(handle_, path, what.watch ? 1 : 0, &link::on_data, made);
        break;
    case request::kind::children:
        code = zoo_aget_children2(handle_, path, 0, &link::on_children, made);
        break;
    case request::kind::exists:
        code = zoo_aexists(handle_, path, what.watch ? 1 : 0, &link::on_stat, made);
        break;
    case request::kind::sync: code = zoo_async(handle_, path, &link::on_string, made); break;
    case request::kind::together: code = give_together(*made, what.operations); break;
    }
    // What the library took and could not write is answered when it gives the connection up.
    if (code == ZBADARGUMENTS || code == ZINVALIDSTATE || code == ZMARSHALLINGERROR) {
        made->out.sent = false;
        finish(made, code == ZINVALIDSTATE ? ZCONNECTIONLOSS : code);
    }
}

int link::give_together(call& which, std::vector<operation> const& operations) {
    auto const count = operations.size();
    which.results.resize(count);
    which.stats.resize(count);
    which.made.resize(count);
    std::vector<zoo_op_t> all(count);
    for (std::size_t each = 0; each < count; ++each) {
        auto const& from = operations[each];
        auto const* const path = from.path.c_str();
        auto const size = static_cast<int>(from.data.size());
        switch (from.what) {
        case operation::kind::check: zoo_check_op_init(&all[each], path, from.version); break;
        case operation::kind::remove: zoo_delete_op_init(&all[each], path, from.version); break;
        case operation::kind::set:
            zoo_set_op_init(&all[each], path, from.data.data(), size, from.version,
                            &which.stats[each]);
            break;
        case operation::kind::create:
            zoo_create_op_init(&all[each], path, from.data.data(), size, &acl_of(settings_),
                               from.mode, which.made[each].data(), longest_path);
            break;
        }
    }
    return zoo_amulti(handle_, static_cast<int>(count), all.data(), which.results.data(),
                      &link::on_void, &which);
}

// --- events ---------------------------------------------------------------------------------

void link::on_watch(zhandle_t* /*of*/, int type, int state, char const* path, void* context) {
    auto& home = *static_cast<link*>(context);
    if (home.closing_) return;
    if (type == ZOO_SESSION_EVENT) return home.on_state(state);
    home.tell_.on_event(path);
}

void link::on_state(int state) {
    if (state == ZOO_CONNECTED_STATE) {
        connected_ = true;
        pause_.reset();
        tell_.on_connected();
        if (passing_) let_pass();
        return;
    }
    bool const over = state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE;
    if (std::exchange(connected_, false)) {
        if (!over) tell_.on_lost();
        lose_all();
    }
    if (!over || std::exchange(expired_, true)) return;
    tell_.on_expired();
    give_up(state == ZOO_AUTH_FAILED_STATE ? ZAUTHFAILED : ZCONNECTIONLOSS);
}

// --- driving -----------------------------------------------------------------------------------

void link::cut() noexcept {
    if (library_descriptor_ >= 0) ::shutdown(library_descriptor_, SHUT_RDWR);
}

// A copy is watched, since the library closes its own at moments of its choice.
void link::follow(int descriptor, int interest) {
    std::uint32_t const kinds =
        ((interest & ZOOKEEPER_READ) != 0 ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
        ((interest & ZOOKEEPER_WRITE) != 0 ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
    if (descriptor == library_descriptor_) {
        if (descriptor >= 0) registered_.want(kinds);
        return;
    }
    registered_.end();
    copy_ = {};
    library_descriptor_ = descriptor;
    if (descriptor < 0) return;
    copy_ = base::descriptor{::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)};
    registered_ = poller_.add(copy_.get(), kinds, about_);
}

void link::process(std::uint32_t kinds) {
    if (expired_) return;
    int const events = ((kinds & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 ? ZOOKEEPER_READ : 0) |
                       ((kinds & EPOLLOUT) != 0 ? ZOOKEEPER_WRITE : 0);
    if (zookeeper_process(handle_, events) != ZOK) {
        follow(-1, 0);
        library_due_ = {};
    }
    if (connected_ && zoo_state(handle_) != ZOO_CONNECTED_STATE) on_state(ZOO_CONNECTING_STATE);
}

void link::tend(base::instant now) {
    while (!waiting_.empty() && waiting_.front().by <= now) {
        auto late = std::move(waiting_.front());
        waiting_.pop_front();
        refuse(late);
    }
    if (expired_) return follow(-1, 0);
    bool const stuck = connected_ ? !under_way_.empty() && progress_ + settings_.timeout <= now
                                  : begun_ + settings_.timeout <= now;
    if (stuck) {
        cut();
        progress_ = begun_ = now;
    }
    // The library would take two thirds of the session's time to find that nobody is there any more.
    if (connected_ && passing_ && under_way_.empty() && now >= progress_ + 2 * settings_.timeout)
        give({.what = request::kind::exists, .path = "/"});
    if (library_descriptor_ < 0 && now < library_due_) return;
    // One server after the other, until one takes its time. The library would pause when none did, the longer the longer
    // the session may last; we do so in steps of our own.
    constexpr int most_tries = 8;
    for (int tries = 0; tries < most_tries; ++tries) {
        int descriptor = -1;
        int interest = 0;
        timeval wait{};
        auto const before = library_descriptor_;
        int const code = zookeeper_interest(handle_, &descriptor, &interest, &wait);
        if (connected_ && zoo_state(handle_) != ZOO_CONNECTED_STATE) on_state(ZOO_CONNECTING_STATE);
        if (code == ZOK && descriptor >= 0 && before < 0) begun_ = now;
        follow(code == ZOK ? descriptor : -1, interest);
        if (expired_) return;
        if (code != ZOK) continue;
        auto const span =
            std::chrono::seconds{wait.tv_sec} + std::chrono::microseconds{wait.tv_usec};
        library_due_ =
            now + std::max<std::chrono::microseconds>(span, std::chrono::milliseconds{1});
        if (descriptor >= 0) return;
        library_due_ = now + pause_.next();
        return;
    }
}

base::instant link::due() const noexcept {
    if (expired_) return base::never;
    auto out = std::min(library_due_, connected_ ? base::never : begun_ + settings_.timeout);
    if (connected_ && passing_)
        out = std::min(out, progress_ + settings_.timeout * (under_way_.empty() ? 2 : 1));
    if (!waiting_.empty()) out = std::min(out, waiting_.front().by);
    return out;
}

}  // namespace holdfast::stores::zookeeper
