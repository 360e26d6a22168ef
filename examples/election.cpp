// election: one leader at a time, and everybody knows who.
#include <atomic>
#include <iostream>
#include <thread>

#include <holdfast/holdfast.hpp>

int main(int argc, char** argv) {
    auto const* const url = argc > 1 ? argv[1] : "memory:";
    holdfast::client client{url};
    holdfast::election here{client, "scheduler"};

    // Called on a thread of the library: now, and after every change.
    std::atomic<int> changes{0};
    auto const watching = here.observe([&](std::optional<holdfast::leader_info> const& leader) {
        std::cout << (leader ? leader->value + " leads" : "nobody leads") << std::endl;
        ++changes;
        changes.notify_all();
    });
    changes.wait(0);

    // The value is what others need to know of the leader; the token fences what it writes.
    auto term = here.campaign("host-a:8080");

    std::jthread const rival{[url] {
        holdfast::client other{url};
        holdfast::election standing{other, "scheduler"};
        auto const next = standing.campaign("host-b:8080");  // waits until the first is gone
        // ... lead, and stop when next.lost() says so ...
    }};

    auto const leader = here.leader();
    if (!leader || leader->token != term.token()) return 1;
    for (int seen = changes; seen < 2; seen = changes)
        changes.wait(seen);
    return here.resign() == holdfast::release_outcome::released ? 0 : 1;
}
