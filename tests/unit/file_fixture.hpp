// Clients of a file store, driven through the seam without the core.
#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "unit/store_peer.hpp"

extern "C" holdfast::seam::store_module const* holdfast_store_file_v1();

namespace holdfast::test {

class scratch_directory {
public:
    scratch_directory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    scratch_directory(scratch_directory const&) = delete;
    scratch_directory& operator=(scratch_directory const&) = delete;
    ~scratch_directory() { std::filesystem::remove_all(path_); }

    [[nodiscard]] std::string operator/(std::string_view name) const {
        return path_ + "/" + std::string{name};
    }
    [[nodiscard]] std::string const& path() const noexcept { return path_; }

private:
    std::string path_;
};

class peer final : public store_peer {
public:
    explicit peer(std::string const& url) : store_peer{*holdfast_store_file_v1(), url} {}
};

/// A process of its own. `work` runs in it; what it returns is the exit status.
class child_process {
public:
    explicit child_process(std::function<int(child_process&)> const& work) {
        EXPECT_EQ(::pipe(to_parent_), 0);
        EXPECT_EQ(::pipe(to_child_), 0);
        pid_ = ::fork();
        if (pid_ != 0) return;
        in_child_ = true;
        ::alarm(longest_life);  // a child that hangs is a failure, not a test without end
        int status = 99;
        try {
            status = work(*this);
        } catch (...) {
            status = 98;
        }
        ::_exit(status);
    }
    child_process(child_process const&) = delete;
    child_process& operator=(child_process const&) = delete;
    ~child_process() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        for (int const it : {to_parent_[0], to_parent_[1], to_child_[0], to_child_[1]})
            ::close(it);
    }

    /// Each side tells the other that it has come to a point, and waits for that.
    void reach() {
        char const any = '.';
        EXPECT_EQ(::write(in_child_ ? to_parent_[1] : to_child_[1], &any, 1), 1);
    }
    void await() {
        auto const from = in_child_ ? to_child_[0] : to_parent_[0];
        pollfd entry{from, POLLIN, 0};
        ASSERT_EQ(::poll(&entry, 1, longest_life * 1000), 1) << "the other side never came there";
        char any = 0;
        EXPECT_EQ(::read(from, &any, 1), 1);
    }

    /// In a child's child: lives until the test is over with this object.
    [[noreturn]] void linger() {
        ::close(to_child_[1]);
        char any = 0;
        while (::read(to_child_[0], &any, 1) > 0) {}
        ::_exit(0);
    }

    void kill() {
        ::kill(pid_, SIGKILL);
        ::waitpid(std::exchange(pid_, 0), nullptr, 0);
    }
    [[nodiscard]] int wait() {
        int status = 0;
        ::waitpid(std::exchange(pid_, 0), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    static constexpr int longest_life = 80;  // seconds

    int to_parent_[2]{};
    int to_child_[2]{};
    bool in_child_{false};
    pid_t pid_{0};
};

}  // namespace holdfast::test
