#include "net/resolver.hpp"

#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include <netdb.h>

#include "base/mutex.hpp"

namespace holdfast::net {

/// What is asked never changes after the thread was started.
struct resolver::question {
    std::string host;
    std::string port;

    base::mutex mutex;
    /// Empty when nobody wants to know any more.
    std::function<void()> answered HOLDFAST_GUARDED_BY(mutex);
    bool done HOLDFAST_GUARDED_BY(mutex){false};
    std::string why HOLDFAST_GUARDED_BY(mutex);
    std::vector<address> found HOLDFAST_GUARDED_BY(mutex);

    void answer(std::vector<address> addresses, std::string trouble) {
        base::lock_guard const guard{mutex};
        done = true;
        found = std::move(addresses);
        why = std::move(trouble);
        if (answered) answered();
    }
};

namespace {

std::vector<address> look_up(std::string const& host, std::string const& port, int flags,
                             int& result) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* first = nullptr;
    result = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &first);
    std::vector<address> out;
    if (result != 0) return out;
    for (auto const* each = first; each != nullptr; each = each->ai_next) {
        address one;
        if (each->ai_addrlen > sizeof one.bytes) continue;
        std::memcpy(&one.bytes, each->ai_addr, each->ai_addrlen);
        one.length = each->ai_addrlen;
        out.push_back(one);
    }
    ::freeaddrinfo(first);
    return out;
}

// Every system means the same by this name. Answered here, it needs no thread: the child of a fork that
// happens during a lookup of the C library may find the library's locks taken for ever.
std::vector<address> local_addresses(std::string const& port) {
    std::vector<address> out;
    for (auto const* const host : {"::1", "127.0.0.1"}) {
        int ignored = 0;
        for (auto const& found : look_up(host, port, AI_NUMERICHOST, ignored))
            out.push_back(found);
    }
    return out;
}

// The threads of a library take no signals of the program's.
class signals_blocked {
public:
    signals_blocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    signals_blocked(signals_blocked const&) = delete;
    signals_blocked& operator=(signals_blocked const&) = delete;

private:
    sigset_t before_{};
};

}  // namespace

resolver::resolver(std::string const& host, std::uint16_t port, std::function<void()> answered)
    : question_{std::make_shared<question>()} {
    question_->host = host;
    question_->port = std::to_string(port);
    int result = 0;
    auto known = host == "localhost" ? local_addresses(question_->port)
                                     : look_up(host, question_->port, AI_NUMERICHOST, result);
    if (result == 0) {
        question_->answer(std::move(known), {});
        return;
    }
    {
        base::lock_guard const guard{question_->mutex};
        question_->answered = std::move(answered);
    }
    signals_blocked const while_starting;
    std::thread{[asked = question_] {
        int outcome = 0;
        auto found = look_up(asked->host, asked->port, AI_ADDRCONFIG, outcome);
        if (outcome != 0) found = look_up(asked->host, asked->port, 0, outcome);
        std::string trouble;
        if (outcome != 0)
            trouble = "the host '" + asked->host + "' is not known: " + ::gai_strerror(outcome);
        asked->answer(std::move(found), std::move(trouble));
    }}.detach();
}

resolver::~resolver() {
    base::lock_guard const guard{question_->mutex};
    question_->answered = nullptr;
}

bool resolver::ready() const {
    base::lock_guard const guard{question_->mutex};
    return question_->done;
}

std::vector<address> resolver::take(std::string& why) {
    base::lock_guard const guard{question_->mutex};
    why = question_->why;
    return std::move(question_->found);
}

}  // namespace holdfast::net
