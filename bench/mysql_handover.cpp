// Fair hand-over between processes on MariaDB, at 1, 8 and 32 waiters: beside the driver with the least that can hand a
// lock on in order, and beside the server's own GET_LOCK, which is no more than an orientation, since it hands over in the
// server's memory. And that least beside procedures at the server, the other way to build such a store.
#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "base/url.hpp"
#include "handover.hpp"
#include "mysql_procedure.hpp"
#include "mysql_wire.hpp"
#include "open_line.hpp"
#include "stores/mysql/driver.hpp"

namespace {

bench::crowd::member bare(std::string const& url) {
    return [url](bench::tally& all, int who) {
        bench::bare_member self{[&](bench::compare::driver_events& events) {
            return std::make_unique<bench::mysql::driver>(
                bench::mysql::settings::parse(holdfast::base::url::parse(url)), events,
                [](auto, auto const&) {});
        }};
        bench::take_turns(self, all, who);
    };
}

bench::crowd::member procedure(std::string const& url) {
    return [url](bench::tally& all, int who) {
        bench::procedure_member self{url};
        bench::take_turns(self, all, who);
    };
}

class server_lock {
public:
    explicit server_lock(std::string const& url) : client_{url} {}
    void lock() { client_.get_lock(name_); }
    void unlock() { client_.release_lock(name_); }

private:
    bench::bare_client client_;
    std::string const name_{"bench/crowd"};
};

bench::crowd::member get_lock(std::string const& url) {
    return [url](bench::tally& all, int who) {
        server_lock self{url};
        bench::take_turns(self, all, who);
    };
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: mysql_handover mysql://USER@HOST:PORT/DATABASE\n", stderr);
        return 2;
    }
    std::string const url = argv[1];
    bench::procedure_member::make(url);
    bench::contender const ours{"holdfast::mutex, fair", bench::fair_mutex(url)};
    bench::contender const least{"the driver, an open line by hand", bare(url)};
    bench::handover_duels("mysql", std::array{1, 8, 32}, ours, least, 0.9);
    bench::handover_duels("mysql", std::array{8}, ours, {"GET_LOCK", get_lock(url)}, std::nullopt);
    bench::handover_duels("mysql", std::array{8, 32}, least,
                          {"procedures at the server", procedure(url)}, std::nullopt);
}
