// What holders of names were promised, and whether it is kept.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace holdfast::quorum_tests {

using nanos = std::chrono::nanoseconds;

/// Who holds what until when, by the true time: those who hold at once must be able to, and tokens rise.
class promises {
public:
    /// `owner`: claims of one owner are one hold, with one token.
    struct grant {
        std::size_t holder{0};
        std::string name{};
        std::string owner{};
        bool shared{false};
        std::uint64_t token{0};
        nanos until{0};
    };

    /// Without tokens, only holds are judged.
    explicit promises(bool judges_tokens) : judges_tokens_{judges_tokens} {}

    void on_granted(grant const& what, nanos now);
    void on_renewed(std::size_t holder, std::string const& name, nanos until, nanos now);
    /// From now on it is content to be one of several.
    void on_downgraded(std::size_t holder, std::string const& name);
    void on_ended(std::size_t holder, std::string const& name);
    /// It was released, and the name stays taken until then.
    void on_kept(grant const& what, nanos now);
    /// Whoever holds from then on, or is about to, may have been evicted when another holds.
    void on_evicting(std::string const& name);
    void on_evicted(std::string const& name, nanos now);

    /// The first promise that was broken; empty: none.
    [[nodiscard]] std::string const& broken() const noexcept { return broken_; }

private:
    struct hold {
        grant what;
        bool evicted{false};
    };
    struct history {
        std::map<std::size_t, hold> holds{};
        std::uint64_t highest{0};            ///< token of all
        std::uint64_t highest_exclusive{0};  ///< token of those who were alone
        std::string last_owner{};            ///< that has the highest
        int evictions{0};                    ///< under way
        nanos evicted_until{0};  ///< a grant may have been under way when the last one ended
    };
    void judge_beside_others(history& of, std::size_t place, char const* words, nanos now);
    void judge_token(history& of, grant const& what);
    void violate(std::string words);

    bool judges_tokens_;
    std::map<std::string, history> names_;
    std::string broken_;
};

}  // namespace holdfast::quorum_tests
