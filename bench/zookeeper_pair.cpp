// Lock and unlock on ZooKeeper without contention: one owner, beside a bare client of the same library that sends the
// same operations, and beside two bare writes.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <poll.h>
#include <zookeeper/zookeeper.h>

#include <holdfast/holdfast.hpp>

#include "duel.hpp"

namespace {

constexpr int pairs = 300;
constexpr int rounds = 7;

template <class Pair>
double rate(Pair&& pair) {
    return pairs / bench::seconds([&] {
               for (int i = 0; i < pairs; ++i)
                   pair();
           });
}

/// One connection, one request at a time.
class bare_client {
public:
    explicit bare_client(std::string const& hosts) {
        zoo_set_debug_level(static_cast<ZooLogLevel>(0));
        handle_ = zookeeper_init(
            hosts.c_str(), [](auto...) {}, 30'000, nullptr, nullptr, 0);
        zoo_set_servers_resolution_delay(handle_, -1);
        while (zoo_state(handle_) != ZOO_CONNECTED_STATE)
            turn();
        for (auto const* const path : {"/bare", "/bare/session", "/bare/mail"})
            run({create(path)}, false);
    }
    ~bare_client() { zookeeper_close(handle_); }
    bare_client(bare_client const&) = delete;
    bare_client& operator=(bare_client const&) = delete;

    static zoo_op_t create(char const* path) {
        zoo_op_t out;
        zoo_create_op_init(&out, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, nullptr, 0);
        return out;
    }
    static zoo_op_t check(char const* path) {
        zoo_op_t out;
        zoo_check_op_init(&out, path, -1);
        return out;
    }
    static zoo_op_t remove(char const* path) {
        zoo_op_t out;
        zoo_delete_op_init(&out, path, -1);
        return out;
    }
    zoo_op_t set(char const* path, std::string const& data) {
        zoo_op_t out;
        zoo_set_op_init(&out, path, data.data(), static_cast<int>(data.size()), -1, &stat_);
        return out;
    }

    void run(std::vector<zoo_op_t> const& all, bool must = true) {
        std::vector<zoo_op_result_t> results(all.size());
        done_ = false;
        zoo_amulti(
            handle_, static_cast<int>(all.size()), all.data(), results.data(),
            [](int code, void const* self) {
                auto* const home = const_cast<bare_client*>(static_cast<bare_client const*>(self));
                home->done_ = true;
                home->code_ = code;
            },
            this);
        while (!done_)
            turn();
        if (!must || code_ == ZOK) return;
        std::fprintf(stderr, "zookeeper_pair: %s\n", zerror(code_));
        std::exit(1);
    }

private:
    void turn() {
        int descriptor = -1;
        int interest = 0;
        timeval wait{};
        if (zookeeper_interest(handle_, &descriptor, &interest, &wait) != ZOK) return;
        auto const events = static_cast<short>(((interest & ZOOKEEPER_READ) != 0 ? POLLIN : 0) |
                                               ((interest & ZOOKEEPER_WRITE) != 0 ? POLLOUT : 0));
        pollfd one{descriptor, events, 0};
        ::poll(&one, 1, static_cast<int>(wait.tv_sec * 1000 + wait.tv_usec / 1000));
        zookeeper_process(handle_, ((one.revents & POLLIN) != 0 ? ZOOKEEPER_READ : 0) |
                                       ((one.revents & POLLOUT) != 0 ? ZOOKEEPER_WRITE : 0));
    }

    zhandle_t* handle_{nullptr};
    Stat stat_{};
    bool done_{false};
    int code_{0};
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: zookeeper_pair zookeeper://127.0.0.1:PORT\n", stderr);
        return 2;
    }
    std::string const url = argv[1];
    holdfast::client client{url};
    holdfast::mutex mutex{client, "bench/pair"};
    bare_client bare{url.substr(url.find("//") + 2)};
    std::string const body(200, 'x');

    bench::side const ours{"holdfast::mutex",
                           [&] { return rate([&] { (void)mutex.acquire().release(); }); }};
    using of = bare_client;
    bench::duel("ZooKeeper: acquire + release, one owner, both waited for", ours,
                {"bare library, the same operations",
                 [&] {
                     return rate([&] {
                         bare.run({of::check("/bare/session"), of::create("/bare/x"),
                                   of::create("/bare/x/life"), bare.set("/bare/x", body)});
                         bare.run({of::check("/bare/session"), of::remove("/bare/x/life"),
                                   of::remove("/bare/x"), bare.set("/bare/mail", "")});
                     });
                 }},
                rounds, 0.9);
    bench::duel("ZooKeeper: the same beside two bare writes", ours,
                {"two nodes' data set, no conditions",
                 [&] {
                     return rate([&] {
                         bare.run({bare.set("/bare/mail", body)});
                         bare.run({bare.set("/bare/mail", body)});
                     });
                 }},
                rounds, std::nullopt);
}
