#include "stores/postgres/connection.hpp"

#include <algorithm>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stores/postgres/fault.hpp"
#include "stores/postgres/schema.hpp"

namespace holdfast::stores::postgres {

connection::connection(settings const& to, schema const& tables, net::poller& events,
                       net::poller::tag about, owner& tell)
    : to_{to}, tables_{tables}, events_{events}, about_{about}, owner_{tell} {}

connection::~connection() {
    registration_.end();
    PQfinish(connected_);
}

// --- connecting --------------------------------------------------------------------------------

void connection::start(base::instant now) {
    now_ = started_ = now;
    std::vector<char const*> keys;
    std::vector<char const*> values;
    for (auto const& [key, value] : to_.parameters) {
        keys.push_back(key.c_str());
        values.push_back(value.c_str());
    }
    keys.push_back(nullptr);
    values.push_back(nullptr);
    at_ = phase::connecting;
    tries_to_make_ = 0;
    connected_ = PQconnectStartParams(keys.data(), values.data(), 0);
    if (connected_ == nullptr || PQstatus(connected_) == CONNECTION_BAD) return fail(trouble());
    PQsetErrorVerbosity(connected_, PQERRORS_VERBOSE);  // the only way to the SQLSTATE of a refusal
    PQsetNoticeProcessor(
        connected_, [](void*, char const*) {}, nullptr);
    watch(EPOLLOUT);
}

// The socket changes from address to address.
void connection::go_on_connecting() {
    registration_.end();
    switch (PQconnectPoll(connected_)) {
    case PGRES_POLLING_READING: return watch(EPOLLIN);
    case PGRES_POLLING_WRITING: return watch(EPOLLOUT);
    case PGRES_POLLING_OK: break;
    default: return fail(trouble());
    }
    if (PQsetnonblocking(connected_, 1) != 0 || PQenterPipelineMode(connected_) == 0)
        return fail(trouble());
    PQsetErrorVerbosity(connected_, PQERRORS_DEFAULT);
    at_ = phase::greeting;
    direct_ = false;
    watch(EPOLLIN);
    greet();
}

// --- exchanges ---------------------------------------------------------------------------------

void connection::send(exchange what, base::instant now) {
    now_ = now;
    if (at_ == phase::off) {
        answer none;
        none.lost = base::error{errc::store_unavailable, "there is no connection"};
        none.sent = false;
        return what.done(std::move(none));
    }
    auto& entry = pending_.emplace_back();
    entry.done = std::move(what.done);
    entry.statements = std::move(what.statements);
    put_more();
    flush();
}

// Through a pooler one transaction at a time: pgbouncer takes a connection for free when its client goes after the
// answer to one transaction, and the answer to another one on its way would reach whoever gets the connection next.
void connection::put_more() {
    if (!direct_) {
        if (!pending_.empty() && pending_.front().awaits_nothing())
            put_transaction(pending_.front());
        return;
    }
    bool const several = has_several_transactions_to_put();
    if (several) hold_back(true);
    for (auto& each : pending_)
        while (!each.is_put())
            put_transaction(each);
    if (several) hold_back(false);
}

bool connection::has_several_transactions_to_put() const noexcept {
    std::ptrdiff_t found = 0;
    for (auto const& each : pending_)
        found += std::count_if(each.statements.begin() + static_cast<std::ptrdiff_t>(each.put),
                               each.statements.end(), [](auto const& one) { return one.ends(); });
    return found > 1;
}

// libpq sends at the end of each transaction. In one packet they cost the server one wake-up. No other socket than that of
// TCP can do it, and none has to.
void connection::hold_back(bool so) noexcept {
    int const value = so ? 1 : 0;
    ::setsockopt(PQsocket(connected_), IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

void connection::put_transaction(pending& of) {
    of.sent = now_;
    while (!of.is_put()) {
        auto const& next = of.statements[of.put++];
        put(next, of);
        if (next.ends()) return;
    }
}

void connection::put(statement const& what, pending& of) {
    auto const& text = what.text();
    auto const count = static_cast<int>(what.parameters().size());
    values_.clear();
    lengths_.clear();
    formats_.clear();
    for (auto const& each : what.parameters()) {
        values_.push_back(each.value ? each.value->data() : nullptr);
        lengths_.push_back(each.value ? static_cast<int>(each.value->size()) : 0);
        formats_.push_back(each.binary ? 1 : 0);
    }
    bool put = false;
    if (direct_ && !text.name.empty()) {
        put = true;
        if (prepared_.insert(text.name).second) {
            put = PQsendPrepare(connected_, text.name.c_str(), text.words.c_str(), 0, nullptr) == 1;
            of.expected.push_back({part::preparation, &text});
        }
        put = put && PQsendQueryPrepared(connected_, text.name.c_str(), count, values_.data(),
                                         lengths_.data(), formats_.data(), 1) == 1;
    } else {
        put = PQsendQueryParams(connected_, text.words.c_str(), count, nullptr, values_.data(),
                                lengths_.data(), formats_.data(), 1) == 1;
    }
    of.expected.push_back({part::result, &text});
    if (what.ends()) {
        put = put && PQpipelineSync(connected_) == 1;
        of.expected.push_back({part::end, nullptr});
    }
    // libpq refuses only when the connection is broken, or memory is out: the next look at it tells.
    if (!put) events_.wake();
}

void connection::advance(std::uint32_t /*kinds*/, base::instant now) {
    now_ = now;
    if (at_ == phase::off) return;
    // We may be late ourselves: what lies there is read before anybody is blamed.
    if (now >= due() && is_silent()) return fail(unreachable("no answer came in time", to_));
    if (at_ == phase::connecting) return go_on_connecting();
    if (PQconsumeInput(connected_) == 0 || PQstatus(connected_) == CONNECTION_BAD) {
        take_results();  // what came before the end counts
        if (at_ != phase::off) fail(trouble());
        return;
    }
    take_results();
    if (at_ == phase::off) return;
    take_notifications();
    flush();
}

bool connection::is_silent() const noexcept {
    pollfd here{PQsocket(connected_), POLLIN, 0};
    return ::poll(&here, 1, 0) == 0;
}

void connection::take_results() {
    bool between = false;
    while (at_ != phase::off && !pending_.empty() && PQisBusy(connected_) == 0) {
        auto* const result = PQgetResult(connected_);
        if (result != nullptr) {
            between = false;
            take(result);
        } else if (std::exchange(between, true)) {
            return;
        }
    }
}

void connection::take(PGresult* result) {
    rows found{result};
    auto& front = pending_.front();
    if (front.awaits_nothing()) return;
    bool const is_end = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    if (front.expected[front.come].what == part::end && !is_end) {
        // The commit itself has failed, and with it what the last statement said. The end is still to come.
        if (!front.found.results.empty() && front.found.results.back().done())
            front.found.results.back() = std::move(found);
        return;
    }
    auto const [kind, text] = front.expected[front.come++];
    if (kind == part::preparation) {
        if (found.done()) return;
        prepared_.erase(text->name);
        if (PQresultStatus(result) != PGRES_PIPELINE_ABORTED) {
            // The statement behind it reports no more than that it was left out.
            front.found.results.push_back(std::move(found));
            front.expected[front.come].what = part::preparation;
        }
        return;
    }
    if (kind == part::result && !is_end) front.found.results.push_back(std::move(found));
    if (!front.awaits_nothing()) return;
    if (!front.is_put()) return put_more();
    auto whole = std::move(front);
    pending_.pop_front();
    put_more();
    whole.done(std::move(whole.found));
}

void connection::take_notifications() {
    while (at_ != phase::off) {
        std::unique_ptr<PGnotify, void (*)(void*)> const each{PQnotifies(connected_), &PQfreemem};
        if (!each) return;
        owner_.on_notification(each->extra);
    }
}

void connection::flush() {
    if (at_ == phase::off || at_ == phase::connecting) return;
    bool const more = PQflush(connected_) == 1;
    registration_.want(more ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void connection::watch(std::uint32_t interest) {
    registration_.end();
    registration_ = events_.add(PQsocket(connected_), interest, about_);
}

base::instant connection::due() const noexcept {
    if (at_ == phase::off) return base::never;
    if (at_ != phase::ready) return started_ + to_.timeout;
    return pending_.empty() ? base::never : pending_.front().sent + to_.timeout;
}

// --- the end -----------------------------------------------------------------------------------

base::error connection::trouble() const {
    return connected_ == nullptr ? base::error{errc::store_unavailable, "no memory is left"}
                                 : unreachable(PQerrorMessage(connected_), to_);
}

void connection::cut(base::error const& why) {
    registration_.end();
    PQfinish(std::exchange(connected_, nullptr));
    at_ = phase::off;
    prepared_.clear();
    for (auto& each : std::exchange(pending_, {})) {
        answer none;
        none.lost = why;
        none.sent = each.put > 0;
        each.done(std::move(none));
    }
}

void connection::fail(base::error const& why) {
    cut(why);
    owner_.on_broken(*this, why);
}

// libpq would say goodbye on a socket that the parent still uses.
void connection::abandon() noexcept {
    if (connected_ != nullptr) ::close(PQsocket(connected_));
    connected_ = nullptr;
    at_ = phase::off;
}

}  // namespace holdfast::stores::postgres
