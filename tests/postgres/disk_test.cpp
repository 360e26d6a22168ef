// A server whose disk is full.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include <pwd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "postgres/fixture.hpp"

namespace holdfast::postgres_faults {
namespace {

/// A file system of a megabyte that belongs to the user of the server's directory.
class small_disk {
public:
    explicit small_disk(postgres_server const& of) : path_{of.directory() + "/small"} {
        struct stat owner {};
        ::stat(of.directory().c_str(), &owner);
        std::filesystem::create_directory(path_);
        auto const options = "size=1m,mode=700,uid=" + std::to_string(owner.st_uid) +
                             ",gid=" + std::to_string(owner.st_gid);
        mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, options.c_str()) == 0;
        if (!mounted_) why_ = std::strerror(errno);
    }
    ~small_disk() {
        if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
    }
    small_disk(small_disk const&) = delete;
    small_disk& operator=(small_disk const&) = delete;

    [[nodiscard]] bool is_mounted() const noexcept { return mounted_; }
    [[nodiscard]] std::string const& why() const noexcept { return why_; }
    [[nodiscard]] std::string const& path() const noexcept { return path_; }

private:
    std::string path_;
    std::string why_;
    bool mounted_{false};
};

TEST(disk_test, a_full_disk_is_said_and_what_is_held_stays_held) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    small_disk const disk{server};
    if (!disk.is_mounted()) {
        std::cout << "not tested, since a small file system cannot be mounted: " << disk.why()
                  << std::endl;
        return;
    }
    server.ask("CREATE TABLESPACE small LOCATION '" + disk.path() + "'");
    server.ask("CREATE DATABASE locks TABLESPACE pg_default");
    server.ask("ALTER DATABASE locks SET default_tablespace = small");
    noting_client one{server.url("postgres", "locks"), 1s};
    auto held = mutex(*one, "held").acquire();
    server.ask("CREATE TABLE filler (x text)", "locks");
    std::string filled;
    while (filled.empty()) {
        try {
            server.ask("INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 30)",
                       "locks");
        } catch (std::runtime_error const& full) {
            filled = full.what();
        }
    }
    ASSERT_NE(filled.find("No space left on device"), std::string::npos) << filled;
    // The tables have some room in their pages, but not for ever.
    std::system_error refused{std::error_code{}};
    std::vector<lease> others;
    for (int i = 0; i < 2000 && refused.code() == std::error_code{}; ++i)
        refused = failure_of([&] {
            others.push_back(mutex(*one, std::to_string(i) + std::string(400, 'n')).acquire());
        });
    std::string const text = refused.what();
    EXPECT_EQ(refused.code(), errc::store_unavailable) << text;
    EXPECT_NE(text.find("has no room left on its disk"), std::string::npos) << text;
    EXPECT_TRUE(held.held()) << held.loss_reason();
    server.ask("DROP TABLE filler", "locks");
    EXPECT_TRUE(eventually([&] {
        return failure_of([&] { (void)mutex(*one, "another").acquire(); }).code() ==
               std::error_code{};
    }));
    EXPECT_EQ(held.release(), release_outcome::released);
}

}  // namespace
}  // namespace holdfast::postgres_faults
