#include "stores/mysql/connection.hpp"

#include <algorithm>
#include <csignal>
#include <mutex>
#include <string_view>
#include <utility>

#include <errmsg.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stores/mysql/fault.hpp"

namespace holdfast::stores::mysql {

namespace {

char const* or_null(std::string const& text) { return text.empty() ? nullptr : text.c_str(); }

// libmariadb takes SIGPIPE from the whole process when it is first used; it is given back.
void prepare_library() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction before {};
        ::sigaction(SIGPIPE, nullptr, &before);
        ::mysql_server_init(0, nullptr, nullptr);
        ::sigaction(SIGPIPE, &before, nullptr);
    });
}

/// OpenSSL writes to a socket without saying that it wants no SIGPIPE; this keeps it from the process.
class no_sigpipe {
public:
    explicit no_sigpipe(bool wanted) : wanted_{wanted && !pending()} {
        if (!wanted_) return;
        sigset_t only = pipe_alone();
        ::pthread_sigmask(SIG_BLOCK, &only, &before_);
    }
    ~no_sigpipe() {
        if (!wanted_) return;
        sigset_t const only = pipe_alone();
        timespec const at_once{};
        if (pending()) ::sigtimedwait(&only, nullptr, &at_once);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    no_sigpipe(no_sigpipe const&) = delete;
    no_sigpipe& operator=(no_sigpipe const&) = delete;

private:
    static sigset_t pipe_alone() {
        sigset_t out;
        ::sigemptyset(&out);
        ::sigaddset(&out, SIGPIPE);
        return out;
    }
    static bool pending() {
        sigset_t now;
        ::sigpending(&now);
        return ::sigismember(&now, SIGPIPE) == 1;
    }

    bool wanted_;
    sigset_t before_{};
};

}  // namespace

connection::connection(settings const& to, schema const& tables, net::poller& events,
                       net::poller::tag about, owner& tell)
    : to_{to}, tables_{tables}, events_{events}, about_{about}, owner_{tell} {}

// --- connecting --------------------------------------------------------------------------------

void connection::start(base::instant now) {
    prepare_library();
    now_ = sent_ = now;
    at_ = phase::connecting;
    tries_to_make_ = 0;
    secure_ = to_.tls.mode != "disable";  // until it is known better
    connected_ = ::mysql_init(nullptr);
    if (connected_ == nullptr) return fail({errc::store_unavailable, "no memory is left"});
    set_options();
    calling_ = call::connect;
    go_on(::mysql_real_connect_start(&connect_result_, connected_, or_null(to_.host),
                                     or_null(to_.user), or_null(to_.password), to_.database.c_str(),
                                     to_.port, or_null(to_.socket), CLIENT_MULTI_STATEMENTS));
}

void connection::set_options() {
    auto const set = [this](mysql_option which, auto const* value) {
        ::mysql_optionsv(connected_, which, static_cast<void const*>(value));
    };
    my_bool const yes = 1;
    set(MYSQL_OPT_NONBLOCK, static_cast<char const*>(nullptr));
    if (!to_.option_file.empty()) set(MYSQL_READ_DEFAULT_FILE, to_.option_file.c_str());
    set(MYSQL_READ_DEFAULT_GROUP, "holdfast");
    set(MYSQL_SET_CHARSET_NAME, "utf8mb4");
    // While it logs in by TLS, libmariadb waits on the socket itself.
    auto const seconds =
        static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(to_.timeout).count());
    for (auto const each :
         {MYSQL_OPT_CONNECT_TIMEOUT, MYSQL_OPT_READ_TIMEOUT, MYSQL_OPT_WRITE_TIMEOUT})
        set(each, &seconds);
    // Else `localhost` is another word for a UNIX socket, whatever the port.
    unsigned const tcp = MYSQL_PROTOCOL_TCP;
    if (to_.port != 0) set(MYSQL_OPT_PROTOCOL, &tcp);
    ::mysql_optionsv(connected_, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "holdfast");
    if (to_.tls.mode == "disable") return;
    ::mysql_ssl_set(connected_, or_null(to_.tls.key), or_null(to_.tls.certificate),
                    or_null(to_.tls.authorities), nullptr, nullptr);
    if (!to_.needs_tls()) return;
    set(MYSQL_OPT_SSL_ENFORCE, &yes);
    if (to_.tls.mode == "verify-full") set(MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
}

// --- exchanges ---------------------------------------------------------------------------------

void connection::send(exchange what, base::instant now) {
    now_ = now;
    fresh_ = false;
    put(std::move(what));
}

void connection::put(exchange what) {
    sent_ = now_;
    under_way_ = std::move(what);
    text_ = tables_.filled(under_way_->text, rows_);
    auto const commit = text_.find("COMMIT;");
    before_commit_ =
        commit == std::string::npos
            ? 1
            : static_cast<std::size_t>(std::count(
                  text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(commit), ';'));
    carried_out_ = 0;
    found_ = {};
    calling_ = call::query;
    no_sigpipe const quiet{secure_};
    go_on(::mysql_real_query_start(&failed_, connected_, text_.data(), text_.size()));
}

void connection::advance(std::uint32_t events, base::instant now) {
    now_ = now;
    if (at_ == phase::off) return;
    if (events == 0 && now >= due()) {
        // We may be late ourselves.
        if (is_silent()) return fail(explain(CR_SERVER_LOST, "no answer came in time", to_));
        events = EPOLLIN;
    }
    if (calling_ == call::none) {
        // Nothing was asked: the server has ended it.
        return events == 0 ? void() : fail(explain(CR_SERVER_GONE_ERROR, "it was idle", to_));
    }
    int ready = 0;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) ready |= MYSQL_WAIT_READ;
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) ready |= MYSQL_WAIT_WRITE;
    if ((events & EPOLLPRI) != 0) ready |= MYSQL_WAIT_EXCEPT;
    if (ready == 0) return;
    if (calling_ == call::connect) unwatch();  // its socket may become another one
    no_sigpipe const quiet{secure_};
    int waits = 0;
    switch (calling_) {
    case call::connect:
        waits = ::mysql_real_connect_cont(&connect_result_, connected_, ready);
        break;
    case call::query: waits = ::mysql_real_query_cont(&failed_, connected_, ready); break;
    case call::store: waits = ::mysql_store_result_cont(&stored_, connected_, ready); break;
    case call::next: waits = ::mysql_next_result_cont(&failed_, connected_, ready); break;
    case call::none: break;
    }
    go_on(waits);
}

void connection::go_on(int waits) {
    while (waits == 0)
        waits = finished();
    if (waits > 0) await(waits);
}

int connection::finished() {
    switch (std::exchange(calling_, call::none)) {
    case call::connect:
        if (connect_result_ == nullptr) {
            fail(explain(::mysql_errno(connected_), ::mysql_error(connected_), to_));
            return -1;
        }
        greet();
        return -1;
    case call::query:
    case call::next:
        if (failed_ > 0) return note_error(), complete(), -1;
        calling_ = call::store;
        return ::mysql_store_result_start(&stored_, connected_);
    case call::store:
        if (stored_ != nullptr) take_rows(stored_);
        if (stored_ == nullptr && ::mysql_errno(connected_) != 0)
            return note_error(), complete(), -1;
        ++carried_out_;
        if (::mysql_more_results(connected_) == 0) return complete(), -1;
        calling_ = call::next;
        return ::mysql_next_result_start(&failed_, connected_);
    case call::none: break;
    }
    return -1;
}

void connection::take_rows(MYSQL_RES* result) {
    auto& rows = found_.results.emplace_back();
    auto const columns = ::mysql_num_fields(result);
    while (MYSQL_ROW const cells = ::mysql_fetch_row(result)) {
        auto const* const lengths = ::mysql_fetch_lengths(result);
        auto& one = rows.emplace_back();
        for (unsigned i = 0; i < columns; ++i)
            cells[i] == nullptr ? one.emplace_back()
                                : one.emplace_back(std::string{cells[i], lengths[i]});
    }
    ::mysql_free_result(result);
}

void connection::note_error() {
    found_.error = ::mysql_errno(connected_);
    found_.words = ::mysql_error(connected_);
    found_.undone = carried_out_ < before_commit_ ||
                    (carried_out_ == before_commit_ && may_be_sent_again(found_.error));
}

// An error leaves the transaction open, and whatever is said next would belong to it.
void connection::complete() {
    bool const broken = found_.error >= CR_MIN_ERROR && found_.error <= CR_MAX_ERROR;
    if (broken) return fail(explain(found_.error, found_.words, to_));
    auto done = std::move(*std::exchange(under_way_, std::nullopt)).done;
    auto found = std::move(found_);
    found.clock = clock_;
    found.connected = connected_since_;
    if (found.error != 0 && at_ == phase::ready)
        put({"ROLLBACK", [](answer const&) {}});
    else
        await(MYSQL_WAIT_READ);  // to see when the server ends it
    try {
        done(found);
    } catch (odd_answer const&) {
        auto const why = explain_odd_answer(to_);
        answer none;
        none.lost = why;
        done(std::move(none));
        return fail(why);
    }
    if (has_room()) owner_.on_ready(*this);
}

void connection::await(int waits) {
    std::uint32_t interest = 0;
    if ((waits & MYSQL_WAIT_READ) != 0) interest |= EPOLLIN;
    if ((waits & MYSQL_WAIT_WRITE) != 0) interest |= EPOLLOUT;
    if ((waits & MYSQL_WAIT_EXCEPT) != 0) interest |= EPOLLPRI;
    if (watched_) return registration_.want(interest);
    watched_ = true;
    registration_ = events_.add(::mysql_get_socket(connected_), interest, about_);
}

// --- the end -----------------------------------------------------------------------------------

// libmariadb would wait for its goodbye to be sent.
void connection::close() noexcept {
    unwatch();
    at_ = phase::off;
    calling_ = call::none;
    if (connected_ == nullptr) return;
    no_sigpipe const quiet{secure_};
    auto const socket = ::mysql_get_socket(connected_);
    if (socket >= 0) ::shutdown(socket, SHUT_RDWR);
    ::mysql_close(std::exchange(connected_, nullptr));
}

void connection::cut(base::error const& why) {
    close();
    if (!under_way_) return;
    auto const done = std::move(*std::exchange(under_way_, std::nullopt)).done;
    answer none;
    none.lost = why;
    done(std::move(none));
}

void connection::fail(base::error const& why) {
    cut(why);
    owner_.on_broken(*this, why);
}

void connection::abandon() noexcept {
    if (connected_ != nullptr) ::close(::mysql_get_socket(connected_));
    connected_ = nullptr;
    at_ = phase::off;
}

}  // namespace holdfast::stores::mysql
