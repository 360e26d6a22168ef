// What is said on a client's channel: letters, changes of watched names, and proofs that it is heard.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stores/compare/view.hpp"

namespace holdfast::stores::postgres {

/// A payload has fewer than 8000 bytes, of which these are free for the body of a letter. A longer letter is sent in
/// pieces, which arrive one behind the other, since they belong to one transaction.
inline constexpr std::uint32_t letter_room = 5900;

struct letter_heard {
    compare::session_id to{};
    compare::stamp written{};
    std::string body;
    bool whole{true};  ///< else its next piece follows
};
struct change_heard {
    compare::name_key key;
};
struct proof_heard {
    std::string nonce;
};
using heard = std::variant<letter_heard, change_heard, proof_heard>;

/// Base 64: payloads are words of the database's encoding, and letters are bytes.
[[nodiscard]] std::string encoded(std::string_view bytes);
[[nodiscard]] std::optional<std::string> decoded(std::string_view words);

/// The pieces of a letter, to be put behind its address.
[[nodiscard]] std::vector<std::string> letter_pieces(std::string_view body);
[[nodiscard]] std::string change_payload(compare::name_key const& key);
[[nodiscard]] std::string proof_payload(std::string const& nonce);

/// Nothing when it is none of ours: anybody may say something on a channel.
[[nodiscard]] std::optional<heard> read_payload(std::string_view payload);

/// Puts letters together. Whoever knows a channel can say on it what it likes: pieces are kept for sessions of our own
/// only, and no more of them than a letter can have.
///
/// Thread-safety: none; its owner serialises.
class letter_assembly {
public:
    static constexpr std::size_t longest = 100'000;
    enum class state { ignored, incomplete, whole, too_long };

    void expect(compare::session_id to) { sessions_.insert(to); }
    void forget(compare::session_id to);
    /// What was begun is not ended any more.
    void clear() { begun_.clear(); }

    /// With the last piece the letter's body becomes that of the whole.
    state add(letter_heard& piece);

private:
    std::set<compare::session_id> sessions_;
    std::map<compare::session_id, std::optional<std::string>> begun_;  ///< nothing: too long
};

}  // namespace holdfast::stores::postgres
