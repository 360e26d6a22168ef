#include "compare/memory_driver.hpp"

#include <algorithm>
#include <utility>

#include <poll.h>

#include "base/clock.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;
using base::lock_guard;

seam::store_time memory_server::now() {
    return seam::store_time{std::chrono::duration_cast<std::chrono::microseconds>(
        base::boot_clock::now().time_since_epoch())};
}

void memory_server::work() {
    documents_.advance(now());
    auto const ready = [](pending const& one) { return !one.held_back; };
    for (;;) {
        auto const count = static_cast<std::uint64_t>(std::ranges::count_if(pending_, ready));
        if (count == 0) return;
        auto chosen = std::ranges::find_if(pending_, ready);
        for (auto skip = chance_.below(count); skip > 0; --skip)
            chosen = std::find_if(std::next(chosen), pending_.end(), ready);
        if (chosen->what(documents_, now())) pending_.erase(chosen);
    }
}

void memory_server::end_session(session_id id) {
    lock_guard const lock{mutex_};
    documents_.end(id, now());
}

memory_driver::memory_driver(memory_server& server, driver_events& events)
    : server_{server}, events_{events} {}

memory_driver::~memory_driver() { shut(); }

driver_traits memory_driver::traits() const {
    lock_guard const lock{server_.mutex_};
    driver_traits out;
    out.ballots = server_.documents_.has_clock();
    out.clock = server_.documents_.has_clock();
    return out;
}

void memory_driver::hold_back_steps() {
    lock_guard const lock{server_.mutex_};
    holding_back_ = true;
}

void memory_driver::let_steps_go() {
    lock_guard const lock{server_.mutex_};
    holding_back_ = false;
    for (memory_server::pending& one : server_.pending_)
        if (one.of == this) one.held_back = false;
    wake_.set();
}

void memory_driver::cut() {
    lock_guard const lock{server_.mutex_};
    deaf_ = true;
}

void memory_driver::begin(memory_server::job what, bool held_back) {
    server_.pending_.push_back({this, held_back, std::move(what)});
    wake_.set();
}

void memory_driver::answer_with(ticket which, outcome what, seam::store_time now) {
    told_.push_back([which, what = std::move(what), now](driver_events& events) {
        events.on_outcome(which, what, {now, {}});
    });
    wake_.set();
}

void memory_driver::ask(ticket which, answer what) {
    lock_guard const lock{server_.mutex_};
    begin([this, which, what = std::move(what)](document_server& server, seam::store_time now) {
        answer_with(which, what(server, now), now);
        return true;
    });
}

void memory_driver::open(ticket which, session_id id, std::chrono::milliseconds lease,
                         std::string body) {
    ask(which,
        [this, id, lease, body = std::move(body)](document_server& server, seam::store_time now) {
            return server.open(id, lease, body, this, now);
        });
}

void memory_driver::keep(ticket which, std::vector<session_id> ids) {
    ask(which, [ids = std::move(ids)](document_server& server, seam::store_time now) -> outcome {
        std::vector<kept> out;
        for (session_id const id : ids)
            out.push_back(server.keep(id, now));
        return out;
    });
}

void memory_driver::raise(ticket which, session_id id) {
    ask(which,
        [id](document_server& server, seam::store_time now) { return server.raise(id, now); });
}

void memory_driver::close(session_id id) noexcept {
    lock_guard const lock{server_.mutex_};
    begin([id](document_server& server, seam::store_time now) {
        server.end(id, now);
        return true;
    });
}

void memory_driver::fetch(ticket which, query what) {
    ask(which, [what = std::move(what)](document_server& server, seam::store_time now) -> outcome {
        views out;
        for (name_query const& one : what.names)
            out.found.push_back(server.look(one, now));
        return out;
    });
}

void memory_driver::list(ticket which, listing what) {
    ask(which, [what = std::move(what)](document_server& server, seam::store_time now) -> outcome {
        return server.list(what, now);
    });
}

void memory_driver::commit(ticket which, step what) {
    lock_guard const lock{server_.mutex_};
    begin(
        [this, which, run = step_run{std::move(what)}](document_server& server,
                                                       seam::store_time now) mutable {
            if (!run.advance(server, now)) return false;
            answer_with(which, run.take(), now);
            return true;
        },
        holding_back_);
}

void memory_driver::watch(ticket which, name_key key) {
    ask(which, [this, key = std::move(key)](document_server& server, seam::store_time) -> outcome {
        server.watch(key, this);
        return in_force{};
    });
}

void memory_driver::unwatch(name_key key) noexcept {
    lock_guard const lock{server_.mutex_};
    server_.documents_.unwatch(key, this);
}

void memory_driver::watch_session(session_id id) {
    lock_guard const lock{server_.mutex_};
    server_.documents_.watch_session(id, this, memory_server::now());
}

void memory_driver::unwatch_session(session_id id) noexcept {
    lock_guard const lock{server_.mutex_};
    server_.documents_.unwatch_session(id, this);
}

void memory_driver::hear(event what) {
    if (deaf_) return;
    told_.push_back(std::move(what));
    wake_.set();
}

void memory_driver::on_letter(session_id to, std::string const& body, stamp written) {
    hear([=](driver_events& events) { events.on_letter(to, body, written); });
}

void memory_driver::on_changed(name_key const& key) {
    hear([=](driver_events& events) { events.on_changed(key); });
}

void memory_driver::on_session_end(session_id which) {
    hear([=](driver_events& events) { events.on_session_end(which); });
}

std::vector<memory_driver::event> memory_driver::collect() {
    lock_guard const lock{server_.mutex_};
    wake_.clear();
    if (std::exchange(deaf_, false))
        told_.push_back([](driver_events& events) {
            events.on_doubt("the connection was cut");
            events.on_gap();
        });
    server_.work();
    return std::exchange(told_, {});
}

void memory_driver::wait(base::instant until) {
    base::instant const now = base::boot_clock::now();
    base::instant end = until;
    {
        lock_guard const lock{server_.mutex_};
        if (auto const first = server_.documents_.next_end())
            end = std::min(end, base::instant{first->time_since_epoch()});
    }
    if (end <= now) return;
    auto const span = std::min<std::chrono::nanoseconds>(end - now, std::chrono::seconds{1});
    pollfd what{wake_.number(), POLLIN, 0};
    poll(&what, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(span).count()));
}

void memory_driver::drive(base::instant until) {
    for (;;) {
        std::vector<event> const told = collect();
        for (event const& one : told)
            one(events_);
        {
            lock_guard const lock{server_.mutex_};
            if (std::exchange(interrupted_, false)) return;
        }
        if (!told.empty() || base::boot_clock::now() >= until) return;
        wait(until);
    }
}

void memory_driver::interrupt() noexcept {
    lock_guard const lock{server_.mutex_};
    interrupted_ = true;
    wake_.set();
}

void memory_driver::shut() noexcept {
    lock_guard const lock{server_.mutex_};
    server_.documents_.forget(this);
    std::erase_if(server_.pending_,
                  [this](memory_server::pending const& one) { return one.of == this; });
}

}  // namespace holdfast::driver_tests
