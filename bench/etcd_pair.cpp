// Lock and unlock on etcd without contention: one owner and 64, beside a bare gRPC client that sends the same
// transactions, and beside two bare writes.
#include <cstdio>
#include <latch>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "duel.hpp"
#include "etcd_calls.hpp"

namespace {

constexpr int pairs = 500;
constexpr int owners = 64;
constexpr int pairs_of_each = 30;
constexpr int rounds = 7;

template <class Pair>
double rate(Pair&& pair) {
    return pairs / bench::seconds([&] {
               for (int i = 0; i < pairs; ++i)
                   pair();
           });
}

double rate_of_many(holdfast::client& client) {
    std::vector<std::jthread> all;
    std::latch ready{owners + 1};
    for (int i = 0; i < owners; ++i)
        all.emplace_back([&, i] {
            holdfast::mutex mine{client, "bench/many/" + std::to_string(i)};
            ready.arrive_and_wait();
            for (int turn = 0; turn < pairs_of_each; ++turn)
                (void)mine.acquire().release();
        });
    return owners * pairs_of_each / bench::seconds([&] {
               ready.arrive_and_wait();
               all.clear();
           });
}

bench::wire::TxnRequest bare_write(bool put) {
    bench::wire::TxnRequest out;
    if (put) {
        auto& what = *out.add_success()->mutable_request_put();
        what.set_key("bench/bare");
        what.set_value(std::string(100, 'x'));
    } else {
        out.add_success()->mutable_request_delete_range()->set_key("bench/bare");
    }
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: etcd_pair etcd://127.0.0.1:PORT\n", stderr);
        return 2;
    }
    std::string const url = argv[1];
    holdfast::client client{url};
    holdfast::mutex mutex{client, "bench/pair"};
    bench::etcd_caller bare{url};
    auto const body = [&] {
        auto const held = mutex.acquire();
        return bare.body_of("bench/pair");
    }();

    bench::side const ours{"holdfast::mutex",
                           [&] { return rate([&] { (void)mutex.acquire().release(); }); }};
    bench::duel("etcd: acquire + release, one owner, both waited for", ours,
                {"bare gRPC, the same two transactions",
                 [&] {
                     return rate([&] {
                         auto const held = bare.transact(bare.acquire("bench/bare", body));
                         bare.transact(bare.release("bench/bare", held.header().revision()));
                     });
                 }},
                rounds, 0.9);
    bench::duel("etcd: the same beside two bare writes", ours,
                {"a put and a delete, no conditions",
                 [&] {
                     return rate([&] {
                         bare.transact(bare_write(true));
                         bare.transact(bare_write(false));
                     });
                 }},
                rounds, std::nullopt);
    bench::duel("etcd: acquire + release, 64 owners of names of their own",
                {"holdfast::mutex, 64 threads, one client", [&] { return rate_of_many(client); }},
                {"bare gRPC, the same transactions, 64 under way",
                 [&] {
                     return owners * pairs_of_each / bench::seconds([&] {
                                bare.run_many(owners, pairs_of_each, "bench/bare/", body);
                            });
                 }},
                rounds, 0.8);
}
