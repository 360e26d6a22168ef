// Notices for clients of other processes: rows that wait until their client reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "stores/file/file_ledger.hpp"
#include "stores/lease/rules.hpp"

namespace holdfast::stores::file {

/// A notice is written in the transaction that it is about, so that neither a lost ring nor a crash
/// before the ring loses it. It stays until its client, having read it, writes anything: reading
/// costs no transaction that writes. A second notice about the same thing replaces the first, so a
/// client that never reads has no more of them than claims and watches.
///
/// Thread-safety: none; its owner serialises.
class mailbox {
public:
    explicit mailbox(database& file) : file_{file} {}

    /// Within a transaction that may write.
    void put(file_ledger& ledger, seam::client_id to, seam::notice const& what);

    /// What came for `client` since the last time, in order.
    [[nodiscard]] std::vector<seam::notice> fetch(seam::client_id client);

    /// Removes what was fetched. Within a transaction that may write; costs nothing when there is
    /// nothing.
    void clear(seam::client_id client);
    /// After that transaction has ended well.
    void cleared() noexcept { removed_ = removing_; }

private:
    database& file_;
    std::int64_t read_{0};      ///< up to this serial number everything was fetched,
    std::int64_t removing_{0};  ///< is being removed,
    std::int64_t removed_{0};   ///< is gone from the file
};

}  // namespace holdfast::stores::file
