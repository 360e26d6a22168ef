// Fair hand-over between processes on etcd, at 8 and at 64 waiters: beside the driver with the least that can hand a
// lock on in order, in as many processes. With further words it prints one line for tools/bench.
#include <array>
#include <cstdio>
#include <string>

#include "base/url.hpp"
#include "handover.hpp"
#include "open_line.hpp"
#include "stores/etcd/driver.hpp"

namespace {

namespace etcd = holdfast::stores::etcd;

bench::crowd::member bare(std::string const& url) {
    return [url](bench::tally& all, int who) {
        bench::bare_member self{[&](bench::compare::driver_events& events) {
            return etcd::make_driver(
                etcd::settings::parse(holdfast::base::url::parse(url)), [](auto, auto const&) {},
                events);
        }};
        bench::take_turns(self, all, who);
    };
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2) {
        constexpr std::array waiters{8, 64};
        std::string const url = argv[1];
        bench::handover_duels("etcd", waiters, {"holdfast::mutex, fair", bench::fair_mutex(url)},
                              {"the driver, an open line by hand", bare(url)}, 0.9);
    } else if (argc == 4) {
        bench::print_turns(argv[1], argv[2], argv[3]);
    } else {
        std::fputs("usage: etcd_handover etcd://127.0.0.1:PORT [PROCESSES SECONDS]\n", stderr);
        return 2;
    }
}
