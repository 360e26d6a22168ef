#include "stores/redis/topology.hpp"

#include <algorithm>
#include <functional>

#include "base/text.hpp"

namespace holdfast::stores::redis {

namespace {

constexpr std::uint64_t highest_port = UINT16_MAX;

// Host, port, and behind them what newer versions add. A host that the server does not know is its own.
server_address read_node(answer_reader& in, server_address const& asked) {
    auto const fields = in.array();
    if (fields < 2) throw garbled{"a node has no address"};
    server_address out = asked;
    if (in.peek() == answer::kind::nothing) {
        in.skip();
    } else if (auto const host = in.text(); !host.empty() && host != "?") {
        out.host = host;
    }
    out.port = static_cast<std::uint16_t>(in.number(highest_port));
    for (auto i = fields; i > 2; --i)
        in.skip();
    return out;
}

std::uint16_t port_of(std::string_view text) {
    auto const port = base::parse_number(text, highest_port);
    if (!port || *port == 0) throw garbled{"an address has no port"};
    return static_cast<std::uint16_t>(*port);
}

// Names and values in turn.
void read_fields(answer_reader& in,
                 std::function<void(std::string_view, std::string_view)> const& take) {
    for (auto left = in.array() / 2; left > 0; --left) {
        auto const name = in.text();
        take(name, in.text());
    }
}

}  // namespace

topology read_slots(answer const& what, server_address const& asked) {
    topology out;
    answer_reader in{what};
    for (auto ranges = in.array(); ranges > 0; --ranges) {
        auto const fields = in.array();
        if (fields < 3) throw garbled{"slots have no node"};
        slot_range range;
        range.first = static_cast<slot_number>(in.number(slot_count - 1));
        range.last = static_cast<slot_number>(in.number(slot_count - 1));
        if (range.first > range.last) throw garbled{"slots end before they begin"};
        for (std::size_t i = 2; i < fields; ++i) {
            auto node = read_node(in, asked);
            if (std::ranges::find(out.guides, node) == out.guides.end()) out.guides.push_back(node);
            if (i > 2) continue;  // replicas
            auto known = std::ranges::find(out.masters, node, &master::address);
            if (known == out.masters.end())
                known = out.masters.insert(known, {std::move(node), {}});
            known->slots.push_back(range);
        }
    }
    return out;
}

std::vector<master> read_master_address(answer const& what) {
    answer_reader in{what};
    if (in.peek() == answer::kind::nothing) return {};
    in.array(2);
    master out;
    out.address.host = in.text();
    out.address.port = port_of(in.text());
    out.slots.push_back({0, slot_count - 1});
    return {std::move(out)};
}

std::uint64_t read_epoch(answer const& what) {
    std::uint64_t out = 0;
    answer_reader in{what};
    if (in.peek() == answer::kind::nothing) return out;
    read_fields(in, [&](std::string_view name, std::string_view value) {
        if (name == "config-epoch") out = base::parse_number(value, UINT64_MAX).value_or(0);
    });
    return out;
}

std::vector<server_address> read_sentinels(answer const& what) {
    std::vector<server_address> out;
    answer_reader in{what};
    for (auto left = in.array(); left > 0; --left) {
        server_address each;
        read_fields(in, [&](std::string_view name, std::string_view value) {
            if (name == "ip") each.host = value;
            if (name == "port") each.port = port_of(value);
        });
        if (!each.host.empty() && each.port != 0) out.push_back(std::move(each));
    }
    return out;
}

// MOVED 3999 127.0.0.1:6381
std::optional<redirection> read_redirection(std::string_view words, server_address const& asked) {
    redirection out;
    out.once = words.starts_with("ASK ");
    if (!out.once && !words.starts_with("MOVED ")) return std::nullopt;
    auto const first = words.find(' ');
    auto const second = words.find(' ', first + 1);
    auto const colon = words.rfind(':');
    if (second == std::string_view::npos || colon == std::string_view::npos || colon < second)
        return std::nullopt;
    auto const slot =
        base::parse_number(words.substr(first + 1, second - first - 1), slot_count - 1);
    auto const port = base::parse_number(words.substr(colon + 1), highest_port);
    if (!slot || !port || *port == 0) return std::nullopt;
    out.slot = static_cast<slot_number>(*slot);
    out.to = asked;
    out.to.port = static_cast<std::uint16_t>(*port);
    if (auto const host = words.substr(second + 1, colon - second - 1);
        !host.empty() && host != "?")
        out.to.host = host;
    return out;
}

}  // namespace holdfast::stores::redis
