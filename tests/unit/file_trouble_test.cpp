// Files that cannot be used, and disks that fail: each error names the path and the cure.
#include <fstream>
#include <limits>

#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "stores/file/fault.hpp"
#include "stores/file/location.hpp"
#include "stores/file/second_name.hpp"
#include "stores/file/settings.hpp"
#include "unit/file_fixture.hpp"

namespace holdfast::test {
namespace {

class file_trouble : public testing::Test {
protected:
    base::error error_at(std::string const& file_url) {
        peer mine{file_url};
        return error_of(mine.submit(mine.claim("x")));
    }

    static void expect(base::error const& error, errc why, std::string const& path_,
                       std::string_view cure) {
        EXPECT_TRUE(error.is(why)) << error.code << " " << error.text;
        EXPECT_NE(error.text.find("'" + path_ + "'"), std::string::npos) << error.text;
        EXPECT_NE(error.text.find(cure), std::string::npos) << error.text;
    }

    void change(char const* sql) const {
        sqlite3* file = nullptr;
        ASSERT_EQ(sqlite3_open(path.c_str(), &file), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(file, sql, nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(file);
    }

    scratch_directory directory;
    std::string const path = directory / "locks.db";
    std::string const url = "file:" + path;
};

std::string parse_error(std::string const& text) {
    try {
        (void)stores::file::settings::parse(base::url::parse(text));
    } catch (std::system_error const& it) {
        EXPECT_EQ(it.code(), make_error_code(errc::bad_url));
        return it.what();
    }
    return {};
}

TEST_F(file_trouble, urls) {
    auto const path_of = [](std::string const& text) {
        return stores::file::settings::parse(base::url::parse(text)).path;
    };
    EXPECT_EQ(path_of("file:/a/b"), "/a/b");
    EXPECT_EQ(path_of("file:///a/b"), "/a/b");
    EXPECT_EQ(path_of("file://localhost/a/b"), "/a/b");
    EXPECT_EQ(path_of("file:a%20b"), std::filesystem::current_path() / "a b");
    auto const all =
        stores::file::settings::parse(base::url::parse("file:/a?timeout=200ms&lease=3s&network=1"));
    EXPECT_EQ(all.timeout, 200ms);
    EXPECT_TRUE(all.network);
    EXPECT_NE(parse_error("file:").find("needs a path"), std::string::npos);
    EXPECT_NE(parse_error("file:/a/").find("names a directory"), std::string::npos);
    EXPECT_NE(parse_error("file://host/a").find("file:/absolute/path"), std::string::npos);
    EXPECT_NE(parse_error("file:/a?timeuot=1s").find("'timeout'"), std::string::npos);
    EXPECT_NE(parse_error("file:/a?timeout=soon").find("duration"), std::string::npos);
}

TEST_F(file_trouble, everything_is_private) {
    EXPECT_FALSE(error_at(url));
    for (auto const* const suffix : {"", "-wal", "-shm", "-live"}) {
        struct stat status {};
        ASSERT_EQ(::stat((path + suffix).c_str(), &status), 0) << suffix;
        EXPECT_EQ(status.st_mode & 0777U, 0600U) << suffix;
    }
    struct stat status {};
    ASSERT_EQ(::stat((path + "-wake").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(file_trouble, a_group_that_shares_a_file_shares_its_companions) {
    { std::ofstream const empty{path}; }
    ASSERT_EQ(::chmod(path.c_str(), 0660), 0);
    peer mine{url};
    EXPECT_FALSE(error_of(mine.submit(mine.claim("x"))));
    for (auto const* const suffix : {"-wal", "-shm", "-live", "-wake/0"}) {
        struct stat status {};
        ASSERT_EQ(::stat((path + suffix).c_str(), &status), 0) << suffix;
        EXPECT_EQ(status.st_mode & 0777U, 0660U) << suffix;
    }
    struct stat status {};
    ASSERT_EQ(::stat((path + "-wake").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0770U);
}

TEST_F(file_trouble, places_where_no_file_can_be) {
    auto const missing = directory / "none/locks.db";
    expect(error_at("file:" + missing), errc::bad_url, missing,
           "mkdir -p '" + directory.path() + "/none'");
    expect(error_at("file:" + directory.path()), errc::bad_url, directory.path(), "/locks.db");
    { std::ofstream const plain{directory / "plain"}; }
    expect(error_at("file:" + (directory / "plain/x")), errc::bad_url, directory / "plain/x",
           "choose another path");
    ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
    expect(error_at("file:" + (directory / "fifo")), errc::bad_url, directory / "fifo",
           "not a regular file");
}

TEST_F(file_trouble, a_symbolic_link_is_not_followed) {
    std::filesystem::create_symlink(directory / "elsewhere", path);
    expect(error_at(url), errc::bad_url, path, "give the path that it leads to");
    EXPECT_FALSE(std::filesystem::exists(directory / "elsewhere"));
    // A directory on the way may be one.
    std::filesystem::create_directory_symlink(directory.path(), directory / "way");
    EXPECT_FALSE(error_at("file:" + (directory / "way/other.db")));
    EXPECT_TRUE(std::filesystem::exists(directory / "other.db"));
    // A companion may not.
    std::filesystem::create_symlink(directory / "elsewhere", directory / "third.db-live");
    expect(error_at("file:" + (directory / "third.db")), errc::access_denied,
           directory / "third.db-live", "remove it");
}

// Each name has companions of its own: two that use two names would not see each other.
TEST_F(file_trouble, a_file_with_two_names) {
    EXPECT_FALSE(error_at(url));
    auto const other = directory / "other.db";
    std::filesystem::create_hard_link(path, other);
    expect(error_at(url), errc::bad_url, path, "share the directory");
    expect(error_at("file:" + other), errc::bad_url, other, "hard link");
    EXPECT_FALSE(std::filesystem::exists(other + "-live"));
    std::filesystem::remove(other);
    EXPECT_FALSE(error_at(url));
}

TEST_F(file_trouble, a_second_name_harms_nobody_who_has_the_file_open) {
    auto const other = directory / "other.db";
    peer mine{url};
    auto const held = mine.claim("x");
    ASSERT_TRUE(is_granted(mine.submit(held)));
    std::filesystem::create_hard_link(path, other);
    // Nobody can come by either name, so there is nobody whom it could miss.
    expect(error_at("file:" + other), errc::bad_url, other, "hard link");
    expect(error_at(url), errc::bad_url, path, "hard link");
    auto const end = base::boot_clock::now() + 1s;  // it looks four times a second
    do {
        ASSERT_EQ(mine.renew(held).found, seam::renewal::status::alive);
    } while (base::boot_clock::now() < end);
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("y"))));
    std::filesystem::remove(other);
    peer second{url};
    EXPECT_TRUE(is_refused(second.submit(second.claim("x")), seam::refusal::busy));
}

TEST_F(file_trouble, mounts_of_a_file_alone) {
    using namespace stores::file;
    EXPECT_FALSE(error_at(url));
    auto const root = [](int, char const*, int, unsigned, struct statx* out) {
        *out = {};
        out->stx_nlink = 1;
        out->stx_attributes_mask = STATX_ATTR_MOUNT_ROOT;
        out->stx_attributes = STATX_ATTR_MOUNT_ROOT;
        return 0;
    };
    EXPECT_EQ(find_second_name(path, root), second_name::mount);
    // A kernel that does not tell: the mounts of a file and of its directory are compared.
    auto const silent = [](int, char const*, int, unsigned, struct statx* out) {
        *out = {};
        out->stx_nlink = 1;
        return 0;
    };
    EXPECT_EQ(find_second_name(path, silent), second_name::none);
    EXPECT_EQ(find_second_name("/proc/version", silent), second_name::none);
    EXPECT_EQ(find_second_name("/proc", silent), second_name::mount);
    EXPECT_EQ(find_second_name(path), second_name::none);
}

TEST_F(file_trouble, a_file_that_everybody_can_write) {
    EXPECT_FALSE(error_at(url));
    ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
    expect(error_at(url), errc::access_denied, path, "chmod o-w '" + path + "'");
}

TEST_F(file_trouble, a_file_of_another_user) {
    if (::geteuid() != 0) return;  // only root can give a file away
    EXPECT_FALSE(error_at(url));
    ASSERT_EQ(::chown(path.c_str(), 65533, 65533), 0);
    expect(error_at(url), errc::access_denied, path, "chmod 660 '" + path + "'");
    ASSERT_EQ(::chmod(path.c_str(), 0660), 0);
    EXPECT_FALSE(error_at(url));
}

TEST_F(file_trouble, network_file_systems) {
    auto const nfs = [](char const*, struct statfs* out) {
        *out = {};
        out->f_type = 0x6969;
        return 0;
    };
    try {
        (void)stores::file::location::prepare({.path = path}, nfs);
        FAIL() << "NFS was accepted";
    } catch (stores::file::fault const& it) {
        expect(it.why(), errc::unsupported, path, "?network=1");
        EXPECT_NE(it.why().text.find("NFS"), std::string::npos);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_NO_THROW((void)stores::file::location::prepare({.path = path, .network = true}, nfs));
    EXPECT_EQ(stores::file::network_file_system(0xff534d42), "CIFS");
    EXPECT_EQ(stores::file::network_file_system(static_cast<int>(0xfe534d42)), "SMB");
    EXPECT_EQ(stores::file::network_file_system(0x65735546), "FUSE");
    EXPECT_TRUE(stores::file::network_file_system(0xef53).empty());      // ext4
    EXPECT_TRUE(stores::file::network_file_system(0x01021994).empty());  // tmpfs
}

TEST_F(file_trouble, a_file_that_is_no_database) {
    {
        std::ofstream garbage{path};
        garbage << std::string(8192, 'g');
    }
    std::filesystem::permissions(path, std::filesystem::perms{0600});
    expect(error_at(url), errc::bad_url, path, "choose another path");
}

TEST_F(file_trouble, a_database_of_somebody_else) {
    change("CREATE TABLE accounts(id)");
    std::filesystem::permissions(path, std::filesystem::perms{0600});
    expect(error_at(url), errc::bad_url, path,
           "is an SQLite database of another program; choose another path");
    sqlite3* file = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &file), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(file, "SELECT id FROM accounts", nullptr, nullptr, nullptr), SQLITE_OK);
    EXPECT_NE(sqlite3_exec(file, "SELECT * FROM claims", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(file);
}

TEST_F(file_trouble, a_newer_layout) {
    EXPECT_FALSE(error_at(url));
    change("PRAGMA user_version = 99");
    expect(error_at(url), errc::unsupported, path, "use one version in all processes");
}

TEST_F(file_trouble, a_damaged_file) {
    EXPECT_FALSE(error_at(url));
    change("PRAGMA wal_checkpoint(TRUNCATE)");
    {
        std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
        file.seekp(1024);
        file << std::string(8192, '\x7f');
    }
    expect(error_at(url), errc::store_unavailable, path, "remove it together with the files");
}

TEST_F(file_trouble, rows_that_contradict_each_other) {
    peer mine{url};
    ASSERT_TRUE(is_granted(mine.submit(mine.claim("x"))));
    change("DELETE FROM claims");
    auto const error = error_of(mine.submit(mine.claim("x")));
    expect(error, errc::store_unavailable, path, "is damaged");
}

TEST_F(file_trouble, a_file_that_may_only_be_read) {
    EXPECT_FALSE(error_at(url));
    // Rights do not bind root: so the child becomes somebody else, who owns all of it.
    child_process reader{[&](child_process&) {
        if (::geteuid() == 0) {
            for (auto const& each : std::filesystem::recursive_directory_iterator{directory.path()})
                if (::chown(each.path().c_str(), 65534, 65534) != 0) return 10;
            if (::chown(directory.path().c_str(), 65534, 65534) != 0) return 11;
            if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)
                return 12;
        }
        ::chmod(path.c_str(), 0400);
        auto const error = error_at(url);
        expect(error, errc::access_denied, path, "give this user the right to write");
        ::chmod(path.c_str(), 0600);
        ::chmod(directory.path().c_str(), 0500);
        auto const fresh = directory / "fresh.db";
        expect(error_at("file:" + fresh), errc::access_denied, fresh, "give this user the right");
        ::chmod(directory.path().c_str(), 0700);
        return HasFailure() ? 1 : 0;
    }};
    EXPECT_EQ(reader.wait(), 0);
}

TEST_F(file_trouble, what_sqlite_says_becomes_an_error_with_a_cure) {
    auto const of = [&](int code, int number) {
        return stores::file::make_fault({code, number, sqlite3_errstr(code)}, path, 5s).why();
    };
    expect(of(SQLITE_READONLY_DIRECTORY, 0), errc::access_denied, path, "right to write");
    expect(of(SQLITE_CANTOPEN, EACCES), errc::access_denied, path, "choose another path");
    expect(of(SQLITE_CANTOPEN, EMFILE), errc::store_unavailable, path, "open files");
    expect(of(SQLITE_IOERR_WRITE, EIO), errc::store_unavailable, path, "look at the disk");
    expect(of(SQLITE_FULL, ENOSPC), errc::store_unavailable, path, "free some space");
    expect(of(SQLITE_BUSY, 0), errc::store_unavailable, path, "?timeout=");
    expect(of(SQLITE_CORRUPT, 0), errc::store_unavailable, path, "remove it");
    EXPECT_NE(of(SQLITE_FULL, 0).text.find(sqlite3_errstr(SQLITE_FULL)), std::string::npos);
}

TEST_F(file_trouble, a_full_disk_loses_nothing) {
    child_process filler{[&](child_process&) {
        std::signal(SIGXFSZ, SIG_IGN);
        peer mine{url};
        auto const held = mine.claim("held");
        if (!is_granted(mine.submit(held))) return 10;
        auto const size = std::filesystem::file_size(path + "-wal");
        rlimit const tight{size, RLIM_INFINITY};
        if (::setrlimit(RLIMIT_FSIZE, &tight) != 0) return 11;
        auto const error = error_of(mine.submit(mine.claim("x")));
        expect(error, errc::store_unavailable, path, "SQLite: ");
        rlimit const wide{RLIM_INFINITY, RLIM_INFINITY};
        if (::setrlimit(RLIMIT_FSIZE, &wide) != 0) return 12;
        if (!is_granted(mine.submit(mine.claim("x")))) return 13;
        if (mine.renew(held).found != seam::renewal::status::alive) return 14;
        if (mine.settle(held) != seam::ending::released) return 15;
        return HasFailure() ? 1 : 0;
    }};
    EXPECT_EQ(filler.wait(), 0);
}

TEST_F(file_trouble, a_file_that_is_replaced_ends_the_holds_in_it) {
    peer old{url};
    auto const held = old.claim("x");
    auto const before = number_of(old.submit(held));
    std::filesystem::rename(path, directory / "moved");
    for (auto const* const suffix : {"-wal", "-shm"})
        std::filesystem::remove(path + suffix);
    peer fresh{url};
    auto const after = fresh.submit(fresh.claim("x"));
    ASSERT_TRUE(is_granted(after));
    EXPECT_GT(number_of(after), before);
    // Told by itself, without a request.
    auto const told = old.next<seam::claim_gone>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->id, held.id);
    EXPECT_NE(told->why.find(path), std::string::npos);
    EXPECT_EQ(old.settle(held), seam::ending::gone);
    EXPECT_TRUE(is_refused(old.submit(old.claim("x")), seam::refusal::busy));
}

TEST_F(file_trouble, a_request_that_meets_a_removed_file_says_so) {
    peer mine{url};
    auto const held = mine.claim("x");
    mine.submit(held);
    for (auto const* const suffix : {"", "-wal", "-shm", "-live"})
        std::filesystem::remove(path + suffix);
    std::filesystem::remove_all(path + "-wake");
    expect(error_of(mine.submit(mine.claim("y"))), errc::store_unavailable, path,
           "removed or replaced");
    EXPECT_EQ(mine.next<seam::claim_gone>()->id, held.id);
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("x"))));
    EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(file_trouble, a_side_file_that_is_removed_makes_nobody_look_dead) {
    peer mine{url};
    auto const held = mine.claim("x");
    mine.submit(held);
    std::filesystem::remove(path + "-live");
    peer other{url};
    EXPECT_TRUE(is_refused(other.submit(other.claim("x")), seam::refusal::busy));
    EXPECT_TRUE(mine.next<seam::claim_gone>());
    // Its rows end with its next request, which makes the name free for others.
    EXPECT_EQ(mine.settle(held), seam::ending::gone);
    EXPECT_TRUE(is_granted(other.submit(other.claim("x"))));
}

}  // namespace
}  // namespace holdfast::test
