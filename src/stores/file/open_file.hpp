// Everything that hangs on one open store file: thrown away and made anew as a whole.
#pragma once

#include <memory>
#include <string>

#include <sys/types.h>

#include "net/poller.hpp"
#include "stores/file/clients.hpp"
#include "stores/file/database.hpp"
#include "stores/file/file_ledger.hpp"
#include "stores/file/location.hpp"
#include "stores/file/mailbox.hpp"
#include "stores/file/presence.hpp"
#include "stores/file/schema.hpp"
#include "stores/file/wake_fifo.hpp"

namespace holdfast::stores::file {

/// Thread-safety: none; its owner serialises.
class open_file {
public:
    /// Opens the file and leaves it checked, with its tables, but without this client in them.
    /// Waits until `patience`. Throws `fault`.
    open_file(location const& where, settings const& wanted, presence& alive,
              std::shared_ptr<seam::identity const> self, base::instant patience);

    /// Within a transaction that may write: makes the tables where there are none, and voids what
    /// was written by another clock, unless somebody lives who proves that it is ours under another
    /// boot id. Throws `fault` while somebody else lives by another clock.
    void settle_clock(clock_identity const& here, seam::store_time now);

    /// Begins a transaction, and makes all that is read in it fresh. Waits until `patience`.
    seam::store_time begin(base::instant patience);

    /// Whether the file, or a companion that SQLite or we rely on, is no longer where it was: some
    /// processes would use one file and some another. The companions are looked at now and then, and
    /// so is whether the file has got a second name: then it throws `fault`. Holds are not void by
    /// that, since nobody can begin to use either name; nobody can renew them either.
    [[nodiscard]] bool displaced(base::instant now);

    location where;
    database file;
    clients people;
    file_ledger ledger;
    mailbox mail;
    wake_fifo fifos;
    net::poller::registration listening;  ///< of our own FIFO, and ends before it

private:
    struct inode {
        dev_t device{0};
        ino_t number{0};
        bool operator==(inode const&) const = default;
    };
    [[nodiscard]] static inode inode_of(std::string const& path) noexcept;

    presence& alive_;
    std::string log_path_;
    std::string index_path_;
    std::string alive_path_;
    inode log_;
    inode index_;
    base::instant looked_{};
};

/// The store's clock: CLOCK_BOOTTIME in microseconds.
[[nodiscard]] seam::store_time store_now() noexcept;

/// Where clients show that they are alive.
inline constexpr char const* alive_suffix = "-live";

}  // namespace holdfast::stores::file
