// One exchange of requests and answers over one socket, whoever carries the bytes.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "redis_calls.hpp"

namespace bench {

/// Pairs of lock and unlock by some owners, each of whom has one request under way: the bytes to write
/// next, and what becomes of those that were read. All sides run the same.
class exchange {
public:
    exchange(std::vector<pair_of_calls> const& owners, std::size_t requests)
        : owners_{owners}, unsent_{requests}, unanswered_{requests} {
        for (std::size_t i = 0; i < owners_.size(); ++i)
            ask();
    }

    [[nodiscard]] bool is_over() const noexcept { return unanswered_ == 0; }

    std::string output;  ///< to be written; whoever has written it clears it

    /// Bytes have come: counts the answers in them, and asks anew for each.
    void take(std::string_view bytes) {
        input_.append(bytes);
        std::size_t at = 0;
        for (auto end = end_of_answer(at); end != incomplete; end = end_of_answer(at)) {
            if (input_[at] == '-') throw std::runtime_error{input_.substr(at, end - at)};
            at = end;
            --unanswered_;
            ask();
        }
        input_.erase(0, at);
    }

private:
    static constexpr std::size_t incomplete = std::string::npos;

    // Answers come in the order of the requests, so the owners take turns, lock after lock and then
    // unlock after unlock.
    void ask() {
        if (unsent_ == 0) return;
        --unsent_;
        auto const& calls = owners_[next_ % owners_.size()];
        output += next_ / owners_.size() % 2 == 0 ? calls.lock : calls.unlock;
        ++next_;
    }

    [[nodiscard]] std::size_t end_of_answer(std::size_t at) const {
        auto const line_end = at < input_.size() ? input_.find("\r\n", at) : incomplete;
        if (line_end == incomplete) return incomplete;
        auto end = line_end + 2;
        auto const count = std::strtol(input_.c_str() + at + 1, nullptr, 10);
        if (input_[at] == '$' && count >= 0) end += static_cast<std::size_t>(count) + 2;
        if (input_[at] == '*')
            for (long i = 0; i < count && end != incomplete; ++i)
                end = end_of_answer(end);
        return end > input_.size() ? incomplete : end;
    }

    std::vector<pair_of_calls> const& owners_;
    std::size_t unsent_;
    std::size_t unanswered_;
    std::size_t next_{0};
    std::string input_;
};

}  // namespace bench
