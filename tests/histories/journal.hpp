// journal: what one process of a run saw, in a file that outlives it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "histories/event.hpp"

namespace holdfast::histories {

/// A file mapped into memory: what was appended is there for others at once, and stays when the process
/// is killed. A record that was under way at that moment is left out.
/// Thread-safety: every member may be called from any thread and process at once.
class journal {
public:
    static constexpr std::size_t parties = 64;

    /// Makes or opens it. `room` events at most.
    explicit journal(std::filesystem::path const& path, std::size_t room = 1'000'000);
    ~journal();
    journal(journal const&) = delete;
    journal& operator=(journal const&) = delete;

    /// Throws when it is full: an event that is missing would make the checks worthless.
    void append(event const& one);

    /// All that is whole, in the order in which it was appended.
    [[nodiscard]] std::vector<event> read() const;

    /// How often each party of the process got on: for those who wait for it.
    void advance(std::size_t party) noexcept { head().progress[party].fetch_add(1); }
    [[nodiscard]] std::uint64_t progress(std::size_t party) const noexcept {
        return head().progress[party].load();
    }
    /// Parties say that they are there before they begin.
    void enlist(std::size_t party) noexcept { head().enlisted[party].store(1); }
    [[nodiscard]] bool enlisted(std::size_t party) const noexcept {
        return head().enlisted[party].load() != 0;
    }

private:
    struct slot {
        std::atomic<std::uint64_t> whole;
        event content;
    };
    struct header {
        std::atomic<std::uint64_t> next;
        std::atomic<std::uint64_t> progress[parties];
        std::atomic<std::uint64_t> enlisted[parties];
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

    [[nodiscard]] header& head() const noexcept { return *static_cast<header*>(memory_); }
    [[nodiscard]] slot* slots() const noexcept {
        return static_cast<slot*>(static_cast<void*>(static_cast<char*>(memory_) + sizeof(header)));
    }

    std::size_t room_;
    std::size_t size_;
    void* memory_{nullptr};
};

}  // namespace holdfast::histories
