// Which servers there are, as sentinels and nodes tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/redis/answer.hpp"
#include "stores/redis/slots.hpp"

namespace holdfast::stores::redis {

struct server_address {
    std::string host;
    std::uint16_t port{0};

    auto operator<=>(server_address const&) const = default;
};

struct slot_range {
    slot_number first{0};
    slot_number last{0};

    bool operator==(slot_range const&) const = default;
};

/// A server that takes writes.
struct master {
    server_address address;
    std::vector<slot_range> slots;

    bool operator==(master const&) const = default;
};

struct topology {
    std::vector<master> masters;
    std::vector<server_address> guides;  ///< who can be asked the next time
    std::uint64_t epoch{0};              ///< of the sentinels' configuration: the higher one counts
    std::string remark{};                ///< for the log, where something is odd
};

/// The answer to CLUSTER SLOTS. `asked` is who gave it: an address without a host is of the same host. Throws
/// `garbled`.
[[nodiscard]] topology read_slots(answer const& what, server_address const& asked);

/// The answer to SENTINEL GET-MASTER-ADDR-BY-NAME; nobody when the sentinel does not know the name.
[[nodiscard]] std::vector<master> read_master_address(answer const& what);
/// The epoch in the answer to SENTINEL MASTER; 0 when there is none.
[[nodiscard]] std::uint64_t read_epoch(answer const& what);
/// The answer to SENTINEL SENTINELS: the others.
[[nodiscard]] std::vector<server_address> read_sentinels(answer const& what);

/// Where a node sends somebody whose slot it does not serve.
struct redirection {
    slot_number slot{0};
    server_address to;
    bool once{false};  ///< ASK: for this question, while the slot moves; else MOVED
};

/// What an error of the node `asked` says, when it is MOVED or ASK.
[[nodiscard]] std::optional<redirection> read_redirection(std::string_view words,
                                                          server_address const& asked);

}  // namespace holdfast::stores::redis
