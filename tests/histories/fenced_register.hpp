// fenced_register: a number that is guarded by fencing tokens, and remembers everything that was done to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "histories/event.hpp"

namespace holdfast::histories {

/// Who uses a register: written down with each use.
struct register_user {
    std::int16_t worker{-1};
    std::uint16_t incarnation{0};
    std::int16_t party{-1};
    std::uint64_t call{0};
    std::uint64_t token{0};
    histories::mode mode{mode::exclusive};
};

/// A file of uses, one after another; the last one is the present state. Reads are fenced too: a reader
/// that let an older token write afterwards would lose that update when it writes itself.
///
/// A use with a shared token is refused after an exclusive one that is higher; one with an exclusive
/// token after any that is higher. Without `check` nothing is refused: the resource that users have who
/// ignore tokens.
///
/// Works between processes; a process that dies in the middle leaves it as it was.
class fenced_register {
public:
    explicit fenced_register(std::filesystem::path path, bool check = true);

    /// The value; nothing when the token was refused.
    [[nodiscard]] std::optional<std::int64_t> read(register_user const& by) const;

    /// Writes `value`, which was made from `from`; false when the token was refused.
    [[nodiscard]] bool write(register_user const& by, std::int64_t value, std::int64_t from) const;

    /// All uses, in order, as events of the name `name`.
    [[nodiscard]] std::vector<event> uses(std::string const& name) const;

private:
    struct state {
        std::int64_t value{0};
        std::uint64_t exclusive{0};  ///< the highest token of each mode
        std::uint64_t shared{0};
    };
    struct entry {
        state left{};
        event use{};
    };
    class turn;

    [[nodiscard]] bool admits(state const& current, register_user const& by) const;
    static void raise(state& current, register_user const& by);
    [[nodiscard]] static event event_of(register_user const& by, kind of);

    std::filesystem::path path_;
    bool check_;
};

}  // namespace holdfast::histories
