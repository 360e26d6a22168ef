// One command in the form of the protocol (RESP2), kept until it is answered.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "seam/request.hpp"

namespace holdfast::stores::redis {

/// A script as the module carries it. The server knows it by the SHA-1 of its text.
struct script {
    std::string_view name;
    std::string_view sha;
    std::string_view text;
};

/// Which of a store's servers a command is for: the one that serves the slot of its keys, or that of a lane. Without
/// either, the first.
struct route {
    std::optional<std::uint16_t> slot{};
    std::optional<seam::lane_id> lane{};
};

/// Arguments are appended in order; the number of them is written when the bytes are asked for.
class command {
public:
    /// A command of the server's own, such as TIME.
    explicit command(std::string_view verb) {
        begin();
        *this << verb;
    }

    /// A call of a script by its hash. Keys come first among the arguments.
    command(script const& what, unsigned keys) : script_{&what} {
        begin();
        *this << "EVALSHA" << what.sha;
        behind_script_ = end();
        *this << keys;
    }

    command& operator<<(std::string_view argument) { return append(argument, {}); }

    /// One argument in two pieces.
    command& append(std::string_view front, std::string_view back);

    template <std::integral Integer>
    command& operator<<(Integer number) {
        return append_number(static_cast<std::int64_t>(number), std::is_signed_v<Integer>);
    }

    /// One argument that begins with the clock of the server it is sent to, in hexadecimal digits.
    command& append_with_clock(std::string_view rest);

    /// Arguments as another command has them, length before each.
    command& append_encoded(std::string_view arguments, unsigned count);

    /// What a call is about, and the pieces of one that can be carried out together with others: a submit or a
    /// settlement that wants nothing unusual.
    struct pieces {
        bool named{false};  ///< takes effect in the order of all requests of its name
        bool gathers{false};
        bool ends{false};     ///< settles
        unsigned terms{0};    ///< how many arguments say what is wanted
        std::size_t name{0};  ///< its hash
        unsigned mark_at{0};
        unsigned record_at{0};
        unsigned record_end{0};
        unsigned terms_at{0};
        unsigned terms_end{0};
    };
    pieces piece{};
    void concerns(std::size_t name_hash) noexcept {
        piece.name = name_hash;
        piece.named = true;
    }
    void begin_terms() noexcept { piece.terms_at = end(); }
    /// They are all there. Until something unusual is added, the call may be carried out with others.
    void end_terms(unsigned count, std::size_t name_hash) noexcept {
        piece.terms = count;
        piece.terms_end = end();
        piece.gathers = true;
        concerns(name_hash);
    }
    /// Where the next argument begins.
    [[nodiscard]] unsigned end() const noexcept { return static_cast<unsigned>(used_); }
    [[nodiscard]] std::string_view mark() const { return part(piece.mark_at, piece.record_at); }
    [[nodiscard]] std::string_view record() const {
        return part(piece.record_at, piece.record_end);
    }
    [[nodiscard]] std::string_view terms() const { return part(piece.terms_at, piece.terms_end); }

    /// The bytes to send to the server with this clock.
    [[nodiscard]] std::string_view bytes(seam::clock_id clock = {});

    /// It may be sent only to the server with this clock; 0: to any.
    seam::clock_id only_for{};

    route to{};

    /// The same call with the text of its script, for a server that does not keep scripts. It goes alone.
    [[nodiscard]] command with_text() const;

    /// The script that is called by its hash, or loaded; nullptr for other commands.
    [[nodiscard]] script const* calls() const noexcept { return script_; }
    void stands_for(script const& what) noexcept { script_ = &what; }

private:
    void begin();
    [[nodiscard]] std::string_view part(unsigned from, unsigned until) const {
        return std::string_view{bytes_}.substr(from, until - from);
    }
    command& append_number(std::int64_t bits, bool is_signed);

    std::string
        bytes_;  ///< with room for the number of arguments at the front, and for more at the end
    std::size_t used_{0};
    script const* script_{nullptr};
    unsigned arguments_{0};
    unsigned start_{0};          ///< where the finished command begins; 0 while it is not finished
    unsigned clock_at_{0};       ///< where the clock goes; 0 where none does
    unsigned behind_script_{0};  ///< of a call: where the number of keys begins
};

}  // namespace holdfast::stores::redis
