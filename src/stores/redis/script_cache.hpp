// What a server has of our scripts.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stores/redis/answer.hpp"
#include "stores/redis/command.hpp"
#include "stores/redis/settings.hpp"

namespace holdfast::stores::redis {

/// Which scripts the server has, as far as one connection knows. Where it may lack one, the script goes out right before the first call:
/// a call that comes back for the want of it would be overtaken by those behind it.
///
/// Thread-safety: none; its owner serialises.
class script_cache {
public:
    /// Asks which scripts of a layout the server has. The answer is for `take_inventory`; without one, it may have none.
    [[nodiscard]] static command inquiry(layout_name about);
    void take_inventory(layout_name about, answer const& what);

    /// What to send right before a call: its script, where the server may lack it.
    [[nodiscard]] std::optional<command> before(command const& call);
    /// The server has answered the command that `before` made; `words` of its error, or none.
    void on_loaded(script const& what, std::string_view words);

    /// The server lacks the script of a call. Then it may have forgotten all of them, save those that are on their way.
    void on_missing() noexcept;
    /// The server does not let us load it: only a call with its text works.
    [[nodiscard]] bool is_refused(script const& what) const noexcept;

    /// The connection has ended.
    void clear() noexcept { known_.clear(); }

private:
    enum class state { there, on_its_way, refused };
    struct entry {
        script const* what;
        state is;
    };

    [[nodiscard]] entry const* find(script const& what) const noexcept;

    std::vector<entry> known_;
};

}  // namespace holdfast::stores::redis
