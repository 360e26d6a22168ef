// How many commands of a client wait for their answers, as what stands between it and the server sees it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace holdfast::redis_faults {

/// Counts the values of Redis' protocol, commands or answers, as their bytes come. Thread-safety: none.
class value_counter {
public:
    /// How many there are now.
    std::int64_t feed(std::string_view bytes) {
        buffer_ += bytes;
        std::size_t done = 0;
        for (auto end = end_of_value(done); end != none; end = end_of_value(done)) {
            done = end;
            ++count_;
        }
        buffer_.erase(0, done);
        return count_;
    }

private:
    static constexpr auto none = std::string::npos;

    [[nodiscard]] std::size_t end_of_value(std::size_t at) const {
        auto const line = buffer_.find("\r\n", at);
        if (line == none) return none;
        auto end = line + 2;
        long number = 0;
        std::from_chars(buffer_.data() + at + 1, buffer_.data() + line, number);
        if (buffer_[at] == '$' && number >= 0) {
            end += static_cast<std::size_t>(number) + 2;
            return end <= buffer_.size() ? end : none;
        }
        if (buffer_[at] == '*')
            for (long i = 0; i < number && end != none; ++i)
                end = end_of_value(end);
        return end;
    }

    std::string buffer_;
    std::int64_t count_{0};
};

/// The greatest number by which commands were ahead of answers on one connection. Thread-safe.
class unanswered {
public:
    void on_request(int number, std::string_view bytes) {
        std::lock_guard const guard{mutex_};
        auto& it = all_[number];
        it.sent = it.commands.feed(bytes);
        most_ = std::max(most_, it.sent - it.came);
    }
    void on_reply(int number, std::string_view bytes) {
        std::lock_guard const guard{mutex_};
        auto& it = all_[number];
        it.came = it.answers.feed(bytes);
    }
    [[nodiscard]] std::int64_t most() const {
        std::lock_guard const guard{mutex_};
        return most_;
    }

private:
    struct connection {
        value_counter commands{};
        value_counter answers{};
        std::int64_t sent{0};
        std::int64_t came{0};
    };

    mutable std::mutex mutex_;  ///< guards what follows
    std::map<int, connection> all_;
    std::int64_t most_{0};
};

}  // namespace holdfast::redis_faults
