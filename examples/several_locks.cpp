// lock_all: several locks at once, all or none. Never a deadlock, in whatever order.
#include <chrono>
#include <iostream>
#include <thread>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    auto const* const url = argc > 1 ? argv[1] : "memory:";
    holdfast::client client{url};
    holdfast::mutex alice{client, "account/alice"};
    holdfast::mutex bob{client, "account/bob"};
    holdfast::shared_mutex rates{client, "rates"};

    int transfers = 0;  // guarded by the accounts
    {
        auto const pay = [&](holdfast::mutex& from, holdfast::mutex& to) {
            for (int i = 0; i < 20; ++i) {
                auto const both = holdfast::lock_all(from, to);
                ++transfers;
            }
        };
        std::jthread const one{[&] { pay(alice, bob); }};
        std::jthread const two{[&] { pay(bob, alice); }};
    }
    std::cout << transfers << " transfers\n";

    // One lease holds them: it is lost when one of them is, and each has its own token.
    auto all = holdfast::lock_all(alice, bob, holdfast::shared(rates));
    if (all.token("account/bob") == 0 || !all.held()) return 1;

    // While one is busy none is taken: whoever needs the other is not in its way.
    holdfast::client other{url};
    holdfast::mutex carol{other, "account/carol"};
    holdfast::mutex bob_again{other, "account/bob"};
    if (holdfast::try_lock_all_for(20ms, carol, bob_again)) return 1;
    if (!carol.try_lock_for(1s)) return 1;
    carol.unlock();
    std::cout << "bob is busy, carol is free\n";
    return all.release() == holdfast::release_outcome::released && transfers == 40 ? 0 : 1;
}
