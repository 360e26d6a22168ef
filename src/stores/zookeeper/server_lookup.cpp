#include "stores/zookeeper/server_lookup.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include <netdb.h>

namespace holdfast::stores::zookeeper {

namespace {

std::string shown(net::address const& of) {
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    if (::getnameinfo(of.raw(), of.length, host.data(), host.size(), port.data(), port.size(),
                      NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return {};
    return std::string{host.data()} + ":" + port.data();
}

}  // namespace

server_lookup::server_lookup(settings const& of, net::poller& events)
    : patient_until_{base::boot_clock::now() + of.timeout / 2} {
    for (auto const& each : of.servers)
        try {
            asked_.push_back(std::make_unique<net::resolver>(each.host, each.port,
                                                             [&events] { events.wake(); }));
        } catch (std::system_error const&) {
            continue;  // no thread is to be had: asked again later, like a name that is not known
        }
}

bool server_lookup::ready(base::instant now) const {
    auto const is_ready = [](auto const& each) { return each->ready(); };
    if (std::ranges::all_of(asked_, is_ready)) return true;
    return now >= patient_until_ && std::ranges::any_of(asked_, is_ready);
}

std::string server_lookup::take() {
    std::string out;
    for (auto const& each : asked_) {
        if (!each->ready()) continue;
        std::string why;
        for (auto const& found : each->take(why))
            if (auto const words = shown(found); !words.empty())
                out += (out.empty() ? "" : ",") + words;
    }
    return out;
}

}  // namespace holdfast::stores::zookeeper
