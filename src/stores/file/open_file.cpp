#include "stores/file/open_file.hpp"

#include <utility>

#include <sys/stat.h>

namespace holdfast::stores::file {

seam::store_time store_now() noexcept {
    return seam::store_time{std::chrono::duration_cast<seam::store_clock::duration>(
        base::boot_clock::now().time_since_epoch())};
}

open_file::open_file(location const& its_place, settings const& wanted, presence& alive,
                     std::shared_ptr<seam::identity const> self, base::instant patience)
    : where{its_place},
      file{where.path(), wanted.timeout, patience},
      people{file, alive, std::move(self)},
      ledger{file, people},
      mail{file},
      fifos{where},
      alive_{alive},
      log_path_{where.path() + "-wal"},
      index_path_{where.path() + "-shm"},
      alive_path_{where.path() + alive_suffix} {
    // Before anything is changed: it may be somebody else's. One reading of all marks, since another
    // process may be making the tables at this moment.
    file.begin_reading(patience);
    (void)is_blank(file);
    file.commit();
    file.tune();
}

void open_file::settle_clock(clock_identity const& here, seam::store_time now) {
    if (is_blank(file)) return create_tables(file, here);
    auto const clock = clock_of(file);
    if (clock == here) return;
    // A container may show a boot id of its own. Nobody's byte stays locked over a restart, so a locked
    // one tells that it is the id that differs and not the boot.
    bool const in_use =
        clock.boot == here.boot ? people.others_alive() : people.others_proven_alive();
    if (!in_use) return begin_anew(file, here, now);
    if (clock.time_namespace != here.time_namespace)
        refuse(errc::unsupported,
               "the store file '" + where.path() +
                   "' is in use by processes of another time namespace, whose clock is not ours; "
                   "let all users of a file share one time namespace, or give each its own file");
}

seam::store_time open_file::begin(base::instant patience) {
    file.begin(patience);
    auto const now = store_now();
    people.begin();
    ledger.begin(now);
    return now;
}

open_file::inode open_file::inode_of(std::string const& path) noexcept {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? inode{status.st_dev, status.st_ino} : inode{};
}

bool open_file::displaced(base::instant now) {
    if (file.moved()) return true;
    constexpr auto often_enough = std::chrono::milliseconds{250};
    if (now - looked_ < often_enough) return false;
    looked_ = now;
    auto const log = inode_of(log_path_);
    auto const index = inode_of(index_path_);
    if (log_ == inode{}) std::tie(log_, index_) = std::pair{log, index};
    return log != log_ || index != index_ || !alive_.is_at(alive_path_.c_str());
}

}  // namespace holdfast::stores::file
