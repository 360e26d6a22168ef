// How a session handle connects, is read, and ends.
#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "stores/zookeeper/session_handle_call.hpp"

namespace holdfast::stores::zookeeper {

namespace {

/// How long an answer may take before another request is sent, and nothing else is done about it.
constexpr std::chrono::milliseconds longest_silence{250};

bool is_ready(base::descriptor const& socket, short kind) noexcept {
    pollfd one{socket.get(), kind, 0};
    return ::poll(&one, 1, 0) == 1;
}

/// Takes the place of the library's socket: what is written stays here, and reading ends at once.
class stand_in {
public:
    explicit stand_in(int library_descriptor) noexcept {
        std::array<int, 2> both{-1, -1};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both.data()) != 0)
            return;
        base::descriptor const theirs{both[0]};
        base::descriptor ours{both[1]};
        ::shutdown(ours.get(), SHUT_WR);
        if (::dup3(theirs.get(), library_descriptor, O_CLOEXEC) >= 0) ours_ = std::move(ours);
    }

    explicit operator bool() const noexcept { return static_cast<bool>(ours_); }

    /// After the library has closed its end: whether all of it was taken.
    [[nodiscard]] bool pass_on(base::descriptor const& to) const noexcept {
        std::array<char, 4096> part;
        for (;;) {
            auto const count = ::recv(ours_.get(), part.data(), part.size(), 0);
            if (count <= 0) return count == 0;
            if (::send(to.get(), part.data(), static_cast<std::size_t>(count),
                       MSG_DONTWAIT | MSG_NOSIGNAL) != count)
                return false;
        }
    }

private:
    base::descriptor ours_;
};

}  // namespace

// Through a copy: the number of the library's may be somebody else's by now.
void session_handle::cut() noexcept {
    if (copy_) ::shutdown(copy_.get(), SHUT_RDWR);
}

// The library writes its request to close the session and then waits up to four and a half seconds. It gets another
// socket for that, and what it wrote is passed on.
void session_handle::close_handle() noexcept {
    if (handle_ == nullptr) return;
    bool const last_words = copy_ && library_descriptor_ >= 0 &&
                            zoo_state(handle_) == ZOO_CONNECTED_STATE && is_ready(copy_, POLLOUT);
    if (!last_words) {
        cut();
        zookeeper_close(handle_);
        return;
    }
    stand_in const other{library_descriptor_};
    if (!other) cut();
    zookeeper_close(handle_);
    if (other && other.pass_on(copy_)) left_.add(std::move(copy_));
}

// A copy is watched, since the library closes its own at moments of its choice.
bool session_handle::follow(int descriptor, int interest) {
    std::uint32_t const kinds =
        ((interest & ZOOKEEPER_READ) != 0 ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
        ((interest & ZOOKEEPER_WRITE) != 0 ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
    try {
        if (descriptor >= 0 && descriptor == library_descriptor_) {
            registered_.want(kinds);
            return true;
        }
        registered_.end();
        copy_ = {};
        library_descriptor_ = -1;
        if (descriptor < 0) return true;
        copy_ = base::descriptor{::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)};
        if (!copy_) throw std::system_error{errno, std::generic_category()};
        registered_ = poller_.add(copy_.get(), kinds, about_);
        library_descriptor_ = descriptor;
        return true;
    } catch (std::system_error const&) {
        // As if the connection were lost: the library finds that out by itself.
        ::shutdown(descriptor, SHUT_RDWR);
        registered_.end();
        copy_ = {};
        library_descriptor_ = -1;
        return false;
    }
}

void session_handle::process(std::uint32_t kinds) {
    if (expired_ || handle_ == nullptr) return;
    int const events = ((kinds & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 ? ZOOKEEPER_READ : 0) |
                       ((kinds & EPOLLOUT) != 0 ? ZOOKEEPER_WRITE : 0);
    int const code = zookeeper_process(handle_, events);
    if (code != ZOK && code != ZNOTHING) {  // the latter: a part of a reply
        follow(-1, 0);
        library_due_ = {};
    }
    if (connected_ && zoo_state(handle_) != ZOO_CONNECTED_STATE) on_state(ZOO_CONNECTING_STATE);
}

bool session_handle::is_stuck(base::instant now) const noexcept {
    if (!connected_) return library_descriptor_ >= 0 && begun_ + settings_.timeout <= now;
    return !under_way_.empty() && progress_ + settings_.timeout <= now;
}

// Nobody may have looked for a while: that is not the server's fault.
void session_handle::read_what_waits() {
    constexpr int most_reads = 64;
    for (int reads = 0; reads < most_reads && copy_ && is_ready(copy_, POLLIN); ++reads)
        process(EPOLLIN);
}

void session_handle::tend(base::instant now) {
    while (!waiting_.empty() && waiting_.front().by <= now) {
        auto late = std::move(waiting_.front());
        waiting_.pop_front();
        refuse(late);
    }
    if (expired_) return static_cast<void>(follow(-1, 0));
    if (is_stuck(now)) {
        read_what_waits();
        if (expired_) return static_cast<void>(follow(-1, 0));
        if (is_stuck(now)) {
            cut();
            progress_ = begun_ = now;
            // Once it was told a length that nothing has, the library reads nothing any more, not even that the connection
            // has ended. That it cannot write it hears.
            if (connected_) give({.what = request::kind::exists, .path = "/"});
            process(EPOLLIN | EPOLLOUT);
        }
        if (expired_) return static_cast<void>(follow(-1, 0));
    }
    // The library would take two thirds of the session's time to find that nobody is there any more. And servers from 3.6.0
    // to 3.8.0 can forget that they have something to answer until something else comes (ZOOKEEPER-4537).
    bool const idle = passing_ && under_way_.empty() && now >= progress_ + 2 * settings_.timeout;
    bool const silent = !under_way_.empty() && !reminded_ && now >= progress_ + longest_silence;
    if (connected_ && (idle || silent)) {
        reminded_ = silent;
        give({.what = request::kind::exists, .path = "/"});
    }
    bool const found = handle_ == nullptr && lookup_ && lookup_->ready(now);
    if (library_descriptor_ < 0 && now < library_due_ && !found) return;
    if (library_descriptor_ >= 0 || find_servers(now)) connect_next(now);
}

// Names are asked for before the first connection, and again whenever no server could be reached.
bool session_handle::find_servers(base::instant now) {
    if (!lookup_ && handle_ == nullptr)
        lookup_ = std::make_unique<server_lookup>(settings_, poller_);
    if (!lookup_) return true;
    if (!lookup_->ready(now)) {
        if (handle_ == nullptr) library_due_ = lookup_->due() > now ? lookup_->due() : base::never;
        return handle_ != nullptr;
    }
    auto found = std::exchange(lookup_, {})->take();
    if (!found.empty() && found != addresses_) {
        addresses_ = std::move(found);
        handle_ == nullptr ? connect_first(now)
                           : static_cast<void>(zoo_set_servers(handle_, addresses_.c_str()));
    }
    if (handle_ == nullptr) library_due_ = now + pause_.next();
    return handle_ != nullptr;
}

void session_handle::connect_first(base::instant now) {
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // it would write to the program's stderr
    handle_ = zookeeper_init(addresses_.c_str(), &session_handle::on_watch,
                             static_cast<int>(session_.count()), nullptr, this, 0);
    begun_ = now;
    if (handle_ == nullptr) return addresses_.clear();
    zoo_set_servers_resolution_delay(handle_, -1);
    if (settings_.user.empty()) return;
    auto const who_am_i = settings_.user + ":" + settings_.password;
    zoo_add_auth(handle_, "digest", who_am_i.data(), static_cast<int>(who_am_i.size()), nullptr,
                 nullptr);
}

// One server after the other, until one takes its time. The library would pause when none did, the longer the longer
// the session may last; we do so in steps of our own.
void session_handle::connect_next(base::instant now) {
    constexpr int most_tries = 8;
    for (int tries = 0; tries < most_tries; ++tries) {
        int descriptor = -1;
        int interest = 0;
        timeval wait{};
        auto const before = library_descriptor_;
        int const code = zookeeper_interest(handle_, &descriptor, &interest, &wait);
        if (connected_ && zoo_state(handle_) != ZOO_CONNECTED_STATE) on_state(ZOO_CONNECTING_STATE);
        if (code == ZOK && descriptor >= 0 && before < 0) begun_ = now;
        bool const followed = follow(code == ZOK ? descriptor : -1, interest);
        if (expired_) return;
        if (code == ZSYSTEMERROR || !followed) break;  // the next one would not fare better
        if (code != ZOK) continue;
        auto const span =
            std::chrono::seconds{wait.tv_sec} + std::chrono::microseconds{wait.tv_usec};
        library_due_ =
            now + std::max<std::chrono::microseconds>(span, std::chrono::milliseconds{1});
        if (descriptor >= 0) return;
        break;
    }
    library_due_ = now + pause_.next();
    if (!lookup_) lookup_ = std::make_unique<server_lookup>(settings_, poller_);
}

base::instant session_handle::due() const noexcept {
    if (expired_) return base::never;
    auto out = library_due_;
    if (!connected_ && library_descriptor_ >= 0) out = std::min(out, begun_ + settings_.timeout);
    if (connected_ && !under_way_.empty())
        out = std::min({out, progress_ + settings_.timeout,
                        reminded_ ? base::never : progress_ + longest_silence});
    else if (connected_ && passing_)
        out = std::min(out, progress_ + 2 * settings_.timeout);
    if (!waiting_.empty()) out = std::min(out, waiting_.front().by);
    return out;
}

}  // namespace holdfast::stores::zookeeper
