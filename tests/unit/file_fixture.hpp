// Clients of a file store, driven through the seam without the core.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "seam/store.hpp"

extern "C" holdfast::seam::store_module const* holdfast_store_file_v1();

namespace holdfast::test {

using namespace std::chrono_literals;

/// Long enough for any machine; nothing that works waits for it.
inline constexpr auto long_enough = 20s;

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

/// One client with its store.
class peer final : seam::event_sink {
public:
    explicit peer(std::string const& url)
        : id_{base::entropy()},
          store_{holdfast_store_file_v1()->make(
              {.url = base::url::parse(url),
               .self = {.id = id_, .host = "here", .pid = ::getpid(), .label = "peer"},
               .sink = *this,
               .log = [](log_level, std::string const&) {}})} {}

    [[nodiscard]] static seam::spec_ptr spec(seam::claim_spec its) {
        return std::make_shared<seam::claim_spec const>(std::move(its));
    }

    [[nodiscard]] seam::claim claim(seam::spec_ptr its) { return {std::move(its), {id_, ++last_}}; }
    [[nodiscard]] seam::claim claim(std::string name) {
        return claim(spec({.name = std::move(name)}));
    }

    seam::reply send(seam::request what) { return *store_->send({}, std::move(what)); }
    seam::reply submit(seam::claim const& wanted, bool queue = false) {
        return send(seam::submit{{wanted}, queue, seam::store_time::max()});
    }
    seam::ending settle(seam::claim const& its) {
        return std::get<seam::settled>(send(seam::settle{{its}}).body).endings.front();
    }
    seam::renewal renew(seam::claim const& its, std::chrono::milliseconds lease = 30s) {
        return std::get<seam::renewed>(send(seam::renew{{{its, lease}}}).body).items.front();
    }

    /// Drives until a notice of this sort came, and takes it; nothing when none came in time.
    template <class Sort>
    std::optional<Sort> next(std::chrono::nanoseconds within = long_enough) {
        auto const end = base::boot_clock::now() + within;
        do {
            for (auto it = notices_.begin(); it != notices_.end(); ++it) {
                if (!std::holds_alternative<Sort>(*it)) continue;
                auto out = std::get<Sort>(std::move(*it));
                notices_.erase(it);
                return out;
            }
            store_->drive(end);
        } while (base::boot_clock::now() < end);
        return std::nullopt;
    }

    [[nodiscard]] seam::client_id id() const noexcept { return id_; }
    [[nodiscard]] seam::store& store() noexcept { return *store_; }
    [[nodiscard]] std::size_t unread() const noexcept { return notices_.size(); }

private:
    void on_reply(seam::request_id, seam::reply) override {}
    void on_notice(seam::notice what) override { notices_.push_back(std::move(what)); }

    seam::client_id id_;
    std::uint64_t last_{0};
    std::vector<seam::notice> notices_;
    std::unique_ptr<seam::store> store_;
};

[[nodiscard]] inline bool is_granted(seam::reply const& it) {
    return std::holds_alternative<seam::granted>(it.body);
}
[[nodiscard]] inline bool is_queued(seam::reply const& it) {
    return std::holds_alternative<seam::queued>(it.body);
}
[[nodiscard]] inline bool is_refused(seam::reply const& it, seam::refusal why) {
    auto const* const no = std::get_if<seam::refused>(&it.body);
    return no != nullptr && no->why == why;
}
[[nodiscard]] inline std::uint64_t number_of(seam::reply const& it) {
    return static_cast<std::uint64_t>(std::get<seam::granted>(it.body).grants.front().number);
}
[[nodiscard]] inline base::error error_of(seam::reply const& it) {
    auto const* const failed = std::get_if<seam::failure>(&it.body);
    return failed == nullptr ? base::error{} : failed->error;
}

/// A process of its own. `work` runs in it; what it returns is the exit status.
class child_process {
public:
    explicit child_process(std::function<int(child_process&)> const& work) {
        EXPECT_EQ(::pipe(to_parent_), 0);
        EXPECT_EQ(::pipe(to_child_), 0);
        pid_ = ::fork();
        if (pid_ != 0) return;
        in_child_ = true;
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
        char any = 0;
        EXPECT_EQ(::read(in_child_ ? to_child_[0] : to_parent_[0], &any, 1), 1);
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
    int to_parent_[2]{};
    int to_child_[2]{};
    bool in_child_{false};
    pid_t pid_{0};
};

}  // namespace holdfast::test
