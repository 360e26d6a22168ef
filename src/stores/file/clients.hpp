// The rows of the clients of a file, and which of them are provably gone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "seam/store.hpp"
#include "stores/file/database.hpp"
#include "stores/file/presence.hpp"

namespace holdfast::stores::file {

/// Thread-safety: none; its owner serialises. All members are for use within a transaction that may
/// write, so that what they find out stays true until its end.
///
/// A row with a slot whose byte nobody has locked is the row of a dead client. Slots are given
/// again only after the row of the former client has lost its slot, in the same transaction: a new
/// client can never make a dead one look alive.
class clients {
public:
    clients(database& file, presence& alive, std::shared_ptr<seam::identity const> self)
        : file_{file}, alive_{alive}, self_{std::move(self)} {}

    /// Forgets what was read in the transaction before.
    void begin() { seen_.clear(); }

    /// Takes a slot, unless this client has one, and writes our row.
    void join();

    /// Whether `client` has a row and is provably gone.
    [[nodiscard]] bool gone(seam::client_id client);

    /// Who the client is; only its id when it has no row.
    [[nodiscard]] std::shared_ptr<seam::identity const> who(seam::client_id client);

    /// Where to ring; nothing when the client is not there.
    [[nodiscard]] std::optional<std::int64_t> slot(seam::client_id client);

    /// All that are gone but still have a row, after taking their slots from them.
    [[nodiscard]] std::vector<seam::client_id> count();

    /// What a client has in the file besides its row. Most have nothing when they leave, and one question
    /// is cheaper than three removals.
    struct leavings {
        bool claims{false};  ///< that are not kept
        bool watches{false};
        bool notices{false};
    };
    [[nodiscard]] leavings belongings(seam::client_id client);

    /// Whether anybody but us may be alive: all who are not provably gone.
    [[nodiscard]] bool others_alive();

    /// Whether anybody but us is provably alive, which also proves that the machine was not restarted
    /// since that client came.
    [[nodiscard]] bool others_proven_alive();

    /// Removes a client, and its notices if it has any. Its claims and watches are the ledger' affair.
    void remove(seam::client_id client, bool with_notices);

private:
    struct person {
        bool known{false};
        bool gone{false};
        std::optional<std::int64_t> slot;
        std::shared_ptr<seam::identity const> who;
    };

    person& look_up(seam::client_id client);
    [[nodiscard]] bool provably_gone(std::optional<std::int64_t> slot,
                                     std::int64_t side) const noexcept {
        return !slot || (side == alive_.side() && alive_.vacant(*slot));
    }
    void take_slot();

    database& file_;
    presence& alive_;
    std::shared_ptr<seam::identity const> self_;
    std::unordered_map<seam::client_id, person> seen_;
};

}  // namespace holdfast::stores::file
