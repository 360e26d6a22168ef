#include "stores/zookeeper/driver.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::zookeeper {

namespace {

constexpr std::chrono::milliseconds longest_farewell{500};

}  // namespace

driver::driver(settings to, compare::log_function log, compare::driver_events& events)
    : polled_driver{events, std::move(log)},
      with_{std::move(to), poller_, out_},
      common_{with_,
              [this] {
                  subscribed_.renew();
                  mail_.renew();
              }},
      looks_{with_, common_, known_},
      mail_{with_, common_, known_},
      sessions_{with_, common_, mail_},
      subscribed_{with_, common_},
      lists_{with_, common_},
      steps_{with_, common_, known_, looks_, sessions_} {}

driver::~driver() {
    if (!is_abandoned()) {
        shut();
        return;
    }
    common_.leave();
    sessions_.leave();
    for (auto& each : with_.over)
        static_cast<void>(each.release());
}

compare::driver_traits driver::traits() const {
    return {.clock = false,
            .pushes = true,
            .letter_bytes = 16'000,
            .writes = 48,
            .seen_by_joiners = 1,
            .ordered_appends = true,
            .shortest_lease = std::chrono::milliseconds{100}};
}

// --- driving -----------------------------------------------------------------------------------

void driver::tend() {
    std::exchange(with_.over, {}).clear();
    with_.closing.tend(now_);
    common_.tend(now_);
    sessions_.tend(now_);
    mail_.tend();
    subscribed_.tend(now_);
    common_.tend(now_);
}

void driver::take(std::span<net::poller::event const> events) {
    for (auto const& each : events) {
        common_.take(each);
        sessions_.take(each);
    }
}

base::instant driver::next_due() const noexcept {
    if (!with_.over.empty()) return {};
    return std::min({common_.due(), sessions_.due(), subscribed_.due(), with_.closing.due()});
}

// Farewells: the common session last, which may have something on its way.
void driver::cut() noexcept {
    std::exchange(with_.over, {}).clear();
    sessions_.close_all();
    common_.close();
    std::exchange(with_.over, {}).clear();
    // The program may end now, and with it the connections.
    with_.closing.wait(longest_farewell);
}

void driver::abandon() noexcept {
    with_.closing.clear();
    common_.abandon();
    sessions_.abandon();
}

// --- calls -------------------------------------------------------------------------------------

template <class Call>
void driver::do_call(Call&& call) {
    base::lock_guard const guard{mutex_};
    if (!enter()) return;
    call();
    common_.tend(base::boot_clock::now());
    settle();
}

template <class Call>
void driver::do_call(compare::ticket which, Call&& call) {
    base::lock_guard const guard{mutex_};
    if (enter(which)) {
        call();
        common_.tend(base::boot_clock::now());
    }
    settle();
}

void driver::open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
                  std::string body) {
    do_call(which, [&] { sessions_.open(which, id, lease, std::move(body)); });
}

void driver::keep(compare::ticket which, std::vector<compare::session_id> ids) {
    do_call(which, [&] { sessions_.keep(which, ids); });
}

void driver::raise(compare::ticket which, compare::session_id id) {
    do_call(which, [&] { sessions_.raise(which, id); });
}

void driver::close(compare::session_id id) noexcept try {
    do_call([&] { sessions_.end(id); });
} catch (std::exception const&) {
    return;  // it ends by itself
}

void driver::fetch(compare::ticket which, compare::query what) {
    do_call(which, [&] { looks_.fetch(which, std::move(what)); });
}

void driver::list(compare::ticket which, compare::listing what) {
    do_call(which, [&] { lists_.list(which, std::move(what)); });
}

void driver::commit(compare::ticket which, compare::step what) {
    do_call(which, [&] { steps_.commit(which, std::move(what)); });
}

void driver::watch(compare::ticket which, compare::name_key key) {
    do_call(which, [&] { subscribed_.watch(which, key); });
}

void driver::unwatch(compare::name_key key) noexcept try {
    do_call([&] { subscribed_.unwatch(key); });
} catch (std::exception const&) {
    return;  // it is told once too often
}

void driver::watch_session(compare::session_id id) {
    do_call([&] { subscribed_.watch_session(id); });
}

void driver::unwatch_session(compare::session_id id) noexcept try {
    do_call([&] { subscribed_.unwatch_session(id); });
} catch (std::exception const&) {
    return;  // the same
}

}  // namespace holdfast::stores::zookeeper
