#include <utility>

#include <unistd.h>

#include "stores/zookeeper/session_handle_call.hpp"

namespace holdfast::stores::zookeeper {

namespace {

ACL_vector const& acl_of(settings const& of) {
    return of.private_nodes ? ZOO_CREATOR_ALL_ACL : ZOO_OPEN_ACL_UNSAFE;
}

// As servers take it unless they are told otherwise, with some room for what they add.
constexpr std::size_t largest_request = 1'040'000;

/// With what a request has beside its paths and data, at most.
std::size_t size_of(std::vector<operation> const& operations) {
    constexpr std::size_t beside = 100;
    std::size_t out = beside;
    for (auto const& each : operations)
        out += each.path.size() + each.data.size() + beside;
    return out;
}

}  // namespace

session_handle::session_handle(surroundings in, net::poller::tag about,
                               std::chrono::milliseconds session, listener who, base::instant from)
    : settings_{in.to},
      poller_{in.events},
      left_{in.closing},
      about_{about},
      session_{session},
      tell_{std::move(who)},
      begun_{base::boot_clock::now()},
      library_due_{from} {}

session_handle::~session_handle() {
    closing_ = true;
    registered_.end();
    close_handle();
    for (auto& each : waiting_)
        refuse(each);
}

void session_handle::abandon() noexcept {
    if (library_descriptor_ >= 0) ::close(library_descriptor_);
    copy_.reset();
    handle_ = nullptr;  // its threads of thought are the parent's
}

std::chrono::milliseconds session_handle::session_timeout() const {
    return std::chrono::milliseconds{zoo_recv_timeout(handle_)};
}

// --- requests ----------------------------------------------------------------------------------

void session_handle::send(request what) {
    what.by = base::boot_clock::now() + settings_.timeout;
    if (expired_) return refuse(what);
    if (connected_ && passing_ && waiting_.empty()) return give(std::move(what));
    waiting_.push_back(std::move(what));
}

void session_handle::let_pass() {
    passing_ = true;
    while (connected_ && !waiting_.empty()) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        give(std::move(next));
    }
}

void session_handle::give_up(int code) {
    expired_ = true;
    connected_ = false;
    lose_all();
    for (auto& each : std::exchange(waiting_, {}))
        refuse(each, code);
}

void session_handle::give(request what) {
    auto const now = base::boot_clock::now();
    if (under_way_.empty()) {
        progress_ = now;
        reminded_ = false;
    }
    auto* const made = new call{.home = this, .then = std::move(what.then)};
    under_way_.insert(made);
    made->out.when = now;
    auto const* const path = what.path.c_str();
    int code = ZOK;
    switch (what.what) {
    case request::kind::get:
        code = zoo_aget(handle_, path, what.watch ? 1 : 0, &session_handle::on_data, made);
        break;
    case request::kind::children:
        code = zoo_aget_children2(handle_, path, 0, &session_handle::on_children, made);
        break;
    case request::kind::exists:
        code = zoo_aexists(handle_, path, what.watch ? 1 : 0, &session_handle::on_stat, made);
        break;
    case request::kind::sync:
        code = zoo_async(handle_, path, &session_handle::on_string, made);
        break;
    case request::kind::together: code = give_together(*made, what.operations); break;
    }
    // What the library took and could not write is answered when it gives the connection up.
    if (code == ZBADARGUMENTS || code == ZINVALIDSTATE || code == ZMARSHALLINGERROR) {
        made->out.sent = false;
        finish(made, code == ZINVALIDSTATE ? ZCONNECTIONLOSS : code);
    }
}

int session_handle::give_together(call& which, std::vector<operation> const& operations) {
    // The server would close the connection, each time anew.
    if (size_of(operations) > largest_request) return ZMARSHALLINGERROR;
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
                      &session_handle::on_void, &which);
}

// --- events ---------------------------------------------------------------------------------

void session_handle::on_watch(zhandle_t* /*of*/, int type, int state, char const* path,
                              void* context) {
    auto& home = *static_cast<session_handle*>(context);
    if (home.closing_) return;
    if (type == ZOO_SESSION_EVENT) return home.on_state(state);
    home.tell_.on_event(path);
}

void session_handle::on_state(int state) {
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

}  // namespace holdfast::stores::zookeeper
