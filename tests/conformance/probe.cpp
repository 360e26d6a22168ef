#include "conformance/probe.hpp"

#include <cstdlib>
#include <future>
#include <mutex>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "conformance/store_test.hpp"
#include "conformance/worker.hpp"

namespace holdfast::conformance {

namespace {

/// Collects attempts at one ability.
class attempts {
public:
    template <class Call>
    void add(char const* what, Call&& call) {
        made_.push_back({what, failure_of(std::forward<Call>(call))});
    }
    /// For an effect that nothing refuses: it is there, or it is not.
    void add_effect(char const* what, bool is_there) {
        made_.push_back({what, is_there ? std::error_code{} : make_error_code(errc::unsupported)});
    }
    [[nodiscard]] std::vector<attempt> made() && { return std::move(made_); }

private:
    std::vector<attempt> made_;
};

void try_processes(attempts& out, context& store) {
    auto const holder = start_worker(store.url());
    EXPECT_TRUE(holder->ask("acquire p lease=20000").starts_with("held "));
    client watcher{store.url()};
    out.add_effect("a hold of another process is seen", !watcher.locks("p").empty());
    holder->kill();
}

void try_silence(attempts& out, context& store) {
    out.add("silence", [&] { store.silence(); });
    out.add("restore", [&] { store.restore(); });
}

void try_clients_in_forks(attempts& out, context& store) {
    client before{store.url()};
    before.ping();
#if defined(__SANITIZE_THREAD__)
    constexpr bool may_start_threads =
        false;  // it forbids them in a child of a process with threads
#else
    constexpr bool may_start_threads = true;
#endif
    auto const child = ::fork();
    if (child == 0) {
        ::alarm(60);  // it must not outlive a test that was ended from outside
        auto const error = failure_of([&] {
            client own{store.url()};
            if (may_start_threads) own.ping();
        });
        ::_exit(error == std::error_code{} ? 0 : error == errc::unsupported ? 1 : 2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    out.add("a client in a child of fork()", [&] {
        if (!WIFEXITED(status) || WEXITSTATUS(status) == 2)
            throw std::system_error{make_error_code(errc::closed), "the child failed"};
        if (WEXITSTATUS(status) == 1)
            throw std::system_error{make_error_code(errc::unsupported), "refused"};
    });
}

void try_lasting_tokens(attempts& out, context& store) {
    auto const token = [&] {
        client once{store.url()};
        return mutex{once, "t"}.acquire().token();
    };
    auto const before = token();
    store.begin_anew();
    out.add_effect("a higher token after a new installation", token() > before);
}

/// Two owners who wait for each other: whoever comes last is told.
bool is_cycle_refused(context& store) {
    client one{store.url()};
    client two{store.url()};
    auto const owned_by = [](char const* owner) {
        return lock_options{.owner = owner, .detect_deadlock = true};
    };
    if (failure_of([&] {
            return mutex{one, "w", owned_by("anna")}.acquire();
        }) == errc::unsupported)
        return false;
    auto const x = mutex{one, "x", owned_by("anna")}.acquire();
    auto y = mutex{two, "y", owned_by("ben")}.acquire();
    auto first = elsewhere([&] {
        return failure_of([&] {
            return mutex{one, "y", owned_by("anna")}.try_acquire_for(patience);
        });
    });
    EXPECT_TRUE(eventually([&] { return one.metrics().at("acquires") == 3; }));
    auto const second = failure_of([&] {
        return mutex{two, "x", owned_by("ben")}.try_acquire_for(2s);
    });
    EXPECT_EQ(y.release(), release_outcome::released);
    return first.get() == errc::would_deadlock || second == errc::would_deadlock;
}

// Whoever waits gets the name in any case: by being told, or by asking again.
void try_line(attempts& out, context& store) {
    client holder{store.url()};
    client other{store.url()};
    auto held = mutex{holder, "l"}.acquire();
    auto waiting = elsewhere([&] { return mutex{other, "l"}.try_acquire_for(patience); });
    EXPECT_TRUE(waits(other, "l", 1)) << "the client itself knows who waits";
    out.add_effect("others see who waits",
                   eventually([&] { return listed(holder, "l").waiters.size() == 1; }, 1s));
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(waiting.get());
    out.add_effect("a cycle of waiting owners is refused", is_cycle_refused(store));
}

void try_holder_details(attempts& out, context& store) {
    client known{store.url(), {.label = "billing"}};
    auto const held = mutex{known, "d", {.owner = "job 7"}}.acquire();
    auto const holders = listed(known, "d").holders;
    ASSERT_EQ(holders.size(), 1U);
    EXPECT_EQ(holders.front().token, held.token());
    EXPECT_NE(holders.front().id, "");
    out.add_effect("label", holders.front().label == "billing");
    out.add_effect("owner", holders.front().owner == "job 7");
    out.add_effect("host", !holders.front().host.empty());
    out.add_effect("process", holders.front().pid == ::getpid());
    auto const ages = [&] { return listed(known, "d").holders.at(0).age > 0ms; };
    out.add_effect("age", eventually(ages, 500ms));
}

void try_any_name(attempts& out, context& store) {
    client user{store.url()};
    for (auto const* const name : {"{", "}", "{a}", "a{b}c", "{}"})
        out.add(name, [&] { return mutex{user, name}.acquire(); });
}

void try_fair_order(attempts& out, context& store) {
    client user{store.url()};
    lock_options const fair{.order = ordering::fair};
    out.add("lock", [&] { std::lock_guard{*std::make_unique<mutex>(user, "f", fair)}; });
    out.add("acquire", [&] { return mutex{user, "f", fair}.acquire(); });
    out.add("try_acquire", [&] { return mutex{user, "f", fair}.try_acquire(); });
    out.add("try_acquire_for", [&] { return mutex{user, "f", fair}.try_acquire_for(patience); });
    out.add("lock_all", [&] {
        mutex one{user, "f", fair};
        return lock_all(one);
    });
}

void try_shared_holds(attempts& out, context& store) {
    client user{store.url()};
    shared_mutex both{user, "s"};
    out.add("acquire_shared", [&] { return both.acquire_shared(); });
    out.add("try_acquire_shared", [&] { return both.try_acquire_shared(); });
    out.add("try_acquire_shared_for", [&] { return both.try_acquire_shared_for(patience); });
    out.add("lock_shared", [&] {
        both.lock_shared();
        both.unlock_shared();
    });
    out.add("lock_all with a shared part", [&] { return lock_all(shared(both)); });
    shared_mutex turned{user, "t"};
    auto held = turned.acquire();
    out.add("downgrade", [&] { turned.downgrade(held); });
}

void try_joint_owners(attempts& out, context& store) {
    client user{store.url()};
    client other{store.url()};
    lock_options const same{.owner = "job 7"};
    recursive_mutex one{user, "j", same};
    recursive_mutex two{other, "j", same};
    std::vector<std::optional<lease>> held;
    out.add("acquire", [&] { held.push_back(one.acquire()); });
    out.add("try_acquire beside it", [&] { held.push_back(two.try_acquire()); });
    out.add("try_acquire_for beside it", [&] { held.push_back(two.try_acquire_for(patience)); });
}

void try_semaphores(attempts& out, context& store) {
    client user{store.url()};
    semaphore slots{user, "s", 3};
    out.add("acquire", [&] { slots.acquire(); });
    out.add("try_acquire", [&] { return slots.try_acquire(); });
    out.add("try_acquire_for", [&] { return slots.try_acquire_for(patience); });
    semaphore leased{user, "l", 3};
    out.add("acquire_lease", [&] { return leased.acquire_lease(); });
    out.add("try_acquire_lease_for", [&] { return leased.try_acquire_lease_for(patience); });
    out.add("available", [&] { return slots.available(); });
    out.add("limit", [&] { return slots.limit(); });
    out.add("set_limit", [&] { slots.set_limit(4); });
}

void try_latches(attempts& out, context& store) {
    client user{store.url()};
    latch gate{user, "l", 2};
    out.add("count", [&] { return gate.count(); });
    out.add("try_wait", [&] { return gate.try_wait(); });
    out.add("wait_for", [&] { return gate.wait_for(500ms); });
    out.add("count_down", [&] { gate.count_down(2); });
    out.add("wait", [&] { gate.wait(); });
    out.add("arrive_and_wait", [&] { gate.arrive_and_wait(); });
    out.add("reset", [&] { gate.reset(1); });
    out.add("remove", [&] { gate.remove(); });
}

void try_barriers(attempts& out, context& store) {
    client user{store.url()};
    barrier meeting{user, "b", 1};
    out.add("arrive_and_wait", [&] { return meeting.arrive_and_wait(); });
    out.add("arrive_and_wait_for", [&] { return meeting.arrive_and_wait_for(patience); });
    out.add("reset", [&] { meeting.reset(); });
    out.add("remove", [&] { meeting.remove(); });
}

void try_conditions(attempts& out, context& store) {
    client user{store.url()};
    mutex guard{user, "m"};
    condition_variable changed{user, "c"};
    out.add("wait_for", [&] {
        std::unique_lock lock{guard};
        return changed.wait_for(lock, 500ms);
    });
    out.add("notify_one", [&] { changed.notify_one(); });
    out.add("notify_all", [&] { changed.notify_all(); });
    EXPECT_FALSE(guard.owns());
}

void try_elections(attempts& out, context& store) {
    client user{store.url()};
    election vote{user, "e"};
    out.add("campaign", [&] { return vote.campaign("me"); });
    out.add("campaign with a stop_token", [&] { return vote.campaign("me", std::stop_token{}); });
    out.add("leader", [&] { EXPECT_EQ((election{user, "nobody"}.leader()), std::nullopt); });
    out.add("observe", [&] { return vote.observe([](std::optional<leader_info> const&) {}); });
}

}  // namespace

std::vector<attempt> probe(ability which, context& store) {
    attempts out;
    switch (which) {
    case ability::processes: try_processes(out, store); break;
    case ability::silence: try_silence(out, store); break;
    case ability::clients_in_forks: try_clients_in_forks(out, store); break;
    case ability::lasting_tokens: try_lasting_tokens(out, store); break;
    case ability::line: try_line(out, store); break;
    case ability::holder_details: try_holder_details(out, store); break;
    case ability::any_name: try_any_name(out, store); break;
    case ability::fair_order: try_fair_order(out, store); break;
    case ability::shared_holds: try_shared_holds(out, store); break;
    case ability::joint_owners: try_joint_owners(out, store); break;
    case ability::semaphores: try_semaphores(out, store); break;
    case ability::latches: try_latches(out, store); break;
    case ability::barriers: try_barriers(out, store); break;
    case ability::conditions: try_conditions(out, store); break;
    case ability::elections: try_elections(out, store); break;
    }
    return std::move(out).made();
}

std::error_code refusal_of(ability which) {
    return which == ability::any_name ? errc::bad_name : errc::unsupported;
}

void expect_refused(ability which, context& store) {
    auto const made = probe(which, store);
    EXPECT_FALSE(made.empty()) << to_string(which);
    for (auto const& one : made)
        EXPECT_EQ(one.error, refusal_of(which)) << to_string(which) << ": " << one.what;
}

}  // namespace holdfast::conformance
