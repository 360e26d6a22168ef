#include "stores/file/location.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "stores/file/fault.hpp"
#include "stores/file/second_name.hpp"

namespace holdfast::stores::file {

namespace {

constexpr mode_t private_mode = 0600;
constexpr mode_t shared_mode = 0660;
constexpr mode_t rights = 0777;

[[noreturn]] void refuse(errc why, std::string const& path, std::string const& words) {
    file::refuse(why, "the store file '" + path + "' " + words);
}

std::string words_of(int number) { return std::system_category().message(number); }

[[noreturn]] void refuse_errno(std::string const& path, char const* doing, int number) {
    auto const what = std::string{doing} + ": " + words_of(number);
    switch (number) {
    case EACCES:
    case EPERM:
        refuse(errc::access_denied, path,
               what +
                   "; give this user the right to read and write the file and its directory, or "
                   "choose another path");
    case EROFS:
        refuse(errc::access_denied, path,
               what + "; choose a path on a file system that is mounted for writing");
    case ENAMETOOLONG:
    case ELOOP:
    case ENOTDIR: refuse(errc::bad_url, path, what + "; choose another path");
    default: refuse(errc::store_unavailable, path, what);
    }
}

std::string real_directory(std::string const& path) {
    auto const slash = path.rfind('/');
    auto const parent = slash == 0 ? std::string{"/"} : path.substr(0, slash);
    std::unique_ptr<char, decltype(&std::free)> const real{::realpath(parent.c_str(), nullptr),
                                                           &std::free};
    if (real != nullptr) return real.get();
    if (errno == ENOENT)
        refuse(errc::bad_url, path,
               "cannot be made: its directory does not exist; create it with mkdir -p '" + parent +
                   "'");
    refuse_errno(path, "cannot be reached", errno);
}

bool in_group(gid_t group) {
    if (::geteuid() == 0 || ::getegid() == group) return true;
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    auto const count = ::getgroups(static_cast<int>(groups.size()), groups.data());
    for (int i = 0; i < count; ++i)
        if (groups[static_cast<std::size_t>(i)] == group) return true;
    return false;
}

void require_type(std::string const& path, struct stat const& status) {
    if (S_ISREG(status.st_mode)) return;
    if (S_ISLNK(status.st_mode))
        refuse(errc::bad_url, path,
               "is a symbolic link, which somebody could point elsewhere; give the path that it "
               "leads to");
    if (S_ISDIR(status.st_mode))
        refuse(errc::bad_url, path,
               "is a directory; name a file in it, such as file:" + path + "/locks.db");
    refuse(errc::bad_url, path, "is not a regular file; choose another path");
}

// A file that somebody else made may say anything. A group that shares one does so on purpose: by
// giving itself the right to write.
void require_trust(std::string const& path, struct stat const& status) {
    if ((status.st_mode & S_IWOTH) != 0)
        refuse(errc::access_denied, path,
               "can be written by everybody; take that right away with chmod o-w '" + path + "'");
    bool const ours = status.st_uid == ::geteuid() || status.st_uid == 0;
    bool const shared = (status.st_mode & S_IWGRP) != 0 && in_group(status.st_gid);
    if (!ours && !shared)
        refuse(errc::access_denied, path,
               "belongs to another user (uid " + std::to_string(status.st_uid) +
                   "); run as that user, choose another path, or let its owner share it with a "
                   "group: chgrp GROUP '" +
                   path + "' and chmod 660 '" + path + "'");
}

void require_local(std::string const& path, std::string const& directory, file_system_probe probe) {
    struct statfs status {};
    if (probe(directory.c_str(), &status) != 0) refuse_errno(path, "cannot be reached", errno);
    auto const kind = network_file_system(static_cast<long>(status.f_type));
    if (!kind.empty())
        refuse(errc::unsupported, path,
               "lies on " + std::string{kind} +
                   ", which other machines may use too; locks in it hold on one machine only. "
                   "Choose a path on a local disk, use a store made for several machines, or add "
                   "?network=1 when only this machine uses the file");
}

// A directory that a group may write and whose files become the group's (chmod 2770) is meant to be
// shared: a file that is made in it is the group's to write, whatever the maker's umask.
bool is_shared(std::string const& directory) noexcept {
    struct stat status {};
    constexpr mode_t wanted = S_ISGID | S_IWGRP;
    return ::stat(directory.c_str(), &status) == 0 &&
           (status.st_mode & (wanted | S_IWOTH)) == wanted;
}

bool make_private(std::string const& path) noexcept {
    base::descriptor const made{
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, private_mode)};
    return static_cast<bool>(made);
}

// It appears with all its rights: nobody of the group may find it private for a moment.
bool make_shared(std::string const& path) noexcept {
    auto draft = path + "-XXXXXX";
    base::descriptor const made{::mkostemp(draft.data(), O_CLOEXEC)};
    if (!made) return false;
    bool const done =
        ::fchmod(made.get(), shared_mode) == 0 && ::link(draft.c_str(), path.c_str()) == 0;
    int const fault = errno;
    ::unlink(draft.c_str());
    errno = fault;
    return done;
}

bool make_file(std::string const& path, std::string const& directory) noexcept {
    return is_shared(directory) ? make_shared(path) : make_private(path);
}

}  // namespace

std::string_view network_file_system(long type) noexcept {
    struct known {
        unsigned long type;
        std::string_view name;
    };
    // From linux/magic.h and the sources of those file systems that are not in it.
    static constexpr std::array all{
        known{0x6969, "NFS"},        known{0xff534d42, "CIFS"},
        known{0xfe534d42, "SMB"},    known{0x517b, "SMB"},
        known{0x01021997, "9p"},     known{0x00c36400, "Ceph"},
        known{0x5346414f, "AFS"},    known{0x6b414653, "AFS"},
        known{0x73757245, "Coda"},   known{0x564c, "NCP"},
        known{0x65735546, "FUSE"},   known{0x01161970, "GFS2"},
        known{0x7461636f, "OCFS2"},  known{0x0bd00bd0, "Lustre"},
        known{0x47504653, "GPFS"},   known{0x786f4256, "a VirtualBox shared folder"},
        known{0x19830326, "BeeGFS"}, known{0x20030528, "OrangeFS"},
        known{0xbacbacbc, "vmhgfs"},
    };
    constexpr unsigned long low_half = 0xffffffff;  // some architectures extend the sign
    for (auto const& each : all)
        if (each.type == (static_cast<unsigned long>(type) & low_half)) return each.name;
    return {};
}

location location::prepare(settings const& wanted, file_system_probe probe) {
    location out;
    auto const directory = real_directory(wanted.path);
    auto const name = wanted.path.substr(wanted.path.rfind('/') + 1);
    out.path_ = (directory == "/" ? "" : directory) + "/" + name;
    if (!wanted.network) require_local(out.path_, directory, probe);
    struct stat status {};
    if (::lstat(out.path_.c_str(), &status) != 0) {
        if (errno != ENOENT) refuse_errno(out.path_, "cannot be reached", errno);
        // Another process may have been faster: then its file is judged like any other.
        if (!make_file(out.path_, directory) && errno != EEXIST)
            refuse_errno(out.path_, "cannot be made", errno);
        if (::lstat(out.path_.c_str(), &status) != 0)
            refuse_errno(out.path_, "vanished while it was made", errno);
    }
    require_type(out.path_, status);
    require_trust(out.path_, status);
    require_one_name(out.path_);
    out.mode_ = status.st_mode & rights;
    out.owner_ = status.st_uid;
    out.group_ = status.st_gid;
    return out;
}

// Best effort: without the right to do it the companion stays private, and others are told so.
void location::adopt(int companion, mode_t mode) const noexcept {
    struct stat status {};
    if (::fstat(companion, &status) != 0) return;
    auto const owner = ::geteuid() == 0 ? owner_ : static_cast<uid_t>(-1);
    bool const alien = status.st_gid != group_ || (::geteuid() == 0 && status.st_uid != owner_);
    if (alien && ::fchown(companion, owner, group_) != 0) return;
    if ((status.st_mode & rights) != mode) ::fchmod(companion, mode);
}

bool location::has_adopted(int companion) const noexcept {
    struct stat status {};
    return ::fstat(companion, &status) == 0 && status.st_gid == group_ &&
           (::geteuid() != 0 || status.st_uid == owner_) && (status.st_mode & rights) == mode_;
}

base::descriptor location::companion_file(char const* suffix) const {
    auto const path = path_ + suffix;
    constexpr int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
    base::descriptor out{::open(path.c_str(), flags | O_CREAT | O_EXCL, private_mode)};
    if (out) {
        adopt(out.get(), mode_);
        return out;
    }
    if (errno == EEXIST) out = base::descriptor{::open(path.c_str(), flags)};
    if (!out && errno == ELOOP)
        refuse(errc::access_denied, path,
               "is a symbolic link that nobody should have put there; "
               "remove it");
    if (!out) refuse_errno(path, "cannot be opened", errno);
    struct stat status {};
    if (::fstat(out.get(), &status) != 0) refuse_errno(path, "cannot be examined", errno);
    require_type(path, status);
    require_trust(path, status);
    return out;
}

base::descriptor location::companion_directory(char const* suffix) const {
    auto const path = path_ + suffix;
    // Who may write the file may enter the directory.
    constexpr mode_t read_rights = 0444;
    mode_t const mode = mode_ | ((mode_ & read_rights) >> 2);
    bool const made = ::mkdir(path.c_str(), 0700) == 0;
    if (!made && errno != EEXIST) refuse_errno(path, "cannot be made", errno);
    base::descriptor out{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!out) refuse_errno(path, "cannot be opened", errno);
    if (made) adopt(out.get(), mode);
    struct stat status {};
    if (::fstat(out.get(), &status) != 0) refuse_errno(path, "cannot be examined", errno);
    require_trust(path, status);
    return out;
}

}  // namespace holdfast::stores::file
