// Numbers that are guarded by fencing tokens, as the documentation asks of its users, in memory that processes share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include <pthread.h>

namespace holdfast::support {

/// One of them. Reads are fenced too: from a read on nobody with a smaller token can change it.
/// Thread-safety: every member may be called from any thread and process at once.
class fenced_number {
public:
    fenced_number();
    fenced_number(fenced_number const&) = delete;
    fenced_number& operator=(fenced_number const&) = delete;

    /// What it is.
    [[nodiscard]] std::uint64_t read(std::uint64_t token, std::size_t whose);
    /// False when a higher token has been seen, or the same one of somebody else.
    bool write(std::uint64_t token, std::size_t whose, std::uint64_t value);
    /// Right when no two who were let in changed it at once.
    [[nodiscard]] bool is_right();
    [[nodiscard]] std::uint64_t value();

private:
    class turn;

    bool let_in(std::uint64_t token, std::size_t whose);

    pthread_mutex_t mutex_;
    std::uint64_t highest_{0};
    std::size_t holder_{0};  ///< of the highest token
    std::uint64_t value_{0};
    std::uint64_t written_{0};
};

/// A file mapped into memory: the numbers, and what the processes that use them tell of themselves.
class fenced_numbers {
public:
    static constexpr std::size_t most_numbers = 8;
    static constexpr std::size_t most_processes = 20;

    struct content {
        std::array<fenced_number, most_numbers> numbers;
        /// How often each process was let in.
        std::array<std::array<std::atomic<std::uint64_t>, most_numbers>, most_processes> visits{};
        std::atomic<std::uint64_t> refused{0};      ///< writes, by a fence
        std::atomic<std::uint64_t> unavailable{0};  ///< visits that found no store
        std::atomic<std::uint64_t> losses{0};
        std::atomic<std::uint64_t> not_rising{0};  ///< tokens
    };

    enum class how { make, open };
    fenced_numbers(std::filesystem::path const& file, how wanted);
    ~fenced_numbers();
    fenced_numbers(fenced_numbers const&) = delete;
    fenced_numbers& operator=(fenced_numbers const&) = delete;

    [[nodiscard]] content& operator*() const noexcept { return *content_; }
    [[nodiscard]] content* operator->() const noexcept { return content_; }

private:
    content* content_{nullptr};
};

}  // namespace holdfast::support
