// The keys of the native layout, as scripts/CONVENTION.md has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stores/redis/command.hpp"
#include "stores/redis/slots.hpp"

namespace holdfast::stores::redis {

/// What a name is in a key: as it is, or a readable part and a hash where it is long or has braces.
void append_tag(std::string& to, std::string_view name);

/// The name that a tag stands for; false when the tag holds a hash of it.
[[nodiscard]] bool is_plain_tag(std::string_view tag);

/// The first 32 hexadecimal digits of the SHA-256.
[[nodiscard]] std::string short_digest(std::string_view text);

/// At most `most` bytes of valid UTF-8, cut between characters.
[[nodiscard]] std::string_view cut_between_characters(std::string_view text, std::size_t most);

/// `text` for a MATCH pattern that means nothing but itself.
[[nodiscard]] std::string escaped(std::string_view text);

/// The keys of one client.
class key_space {
public:
    explicit key_space(std::string prefix)
        : prefix_{std::move(prefix)},
          mark_{prefix_ + "mark"},
          waited_{prefix_ + "waited"},
          ballots_{prefix_ + "ballots"},
          names_{prefix_ + "name:{"},
          conditions_{prefix_ + "condition:{"} {}

    [[nodiscard]] std::string const& prefix() const noexcept { return prefix_; }
    /// What is there once for a server is there once for each slot of a cluster: the mark, and the index of names on
    /// which somebody waits who has an owner.
    void append_mark(command& to, std::optional<slot_number> slot) const {
        append_common(to, mark_, slot);
    }
    void append_waited(command& to, std::optional<slot_number> slot) const {
        append_common(to, waited_, slot);
    }
    /// The last ballot of a name, and those of all names by their age.
    void append_ballots(command& to, std::string_view record,
                        std::optional<slot_number> slot) const {
        to.append(record, ":ballot");
        append_common(to, ballots_, slot);
    }
    /// The MATCH pattern for the indexes of all slots.
    [[nodiscard]] std::string waited_pattern() const { return escaped(waited_) + ":{*}"; }

    /// The key of a name's record.
    [[nodiscard]] std::string record(std::string_view name, bool condition) const {
        auto const& head = condition ? conditions_ : names_;
        std::string out;
        out.reserve(head.size() + name.size() + 1);
        out += head;
        append_tag(out, name);
        return out += '}';
    }

    /// The slot of a name's keys.
    [[nodiscard]] static slot_number slot_of_name(std::string_view name);

    /// The tag in the key of a record; empty when it is none.
    [[nodiscard]] std::string_view tag_in(std::string_view record) const noexcept;

    /// The MATCH pattern for the records of names that begin with `prefix`.
    [[nodiscard]] std::string pattern(std::string_view prefix, bool condition) const;

    [[nodiscard]] std::string channel(std::string_view client) const {
        return prefix_ + "client:" + std::string{client};
    }

private:
    static void append_common(command& to, std::string const& key, std::optional<slot_number> slot);

    std::string prefix_;
    std::string mark_;
    std::string waited_;
    std::string ballots_;
    std::string names_;
    std::string conditions_;
};

/// How many keys a record and what hangs on it are.
inline constexpr unsigned group_size = 5;
/// The mark before the groups, and the index behind them.
inline constexpr unsigned common_keys = 2;
/// What a ballot needs besides, behind all others.
inline constexpr unsigned ballot_keys = 2;

/// Appends the keys of all that hangs on a record, in the scripts' order.
void append_companions(command& to, std::string_view record);

}  // namespace holdfast::stores::redis
