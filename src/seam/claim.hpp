// A claim: who wants what, and how. Everything that is held or waited for by someone who may die
// is a claim.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/info.hpp>
#include <holdfast/options.hpp>

#include "base/rare_text.hpp"
#include "base/text.hpp"

namespace holdfast::seam {

/// Names one client for as long as it lives; random.
enum class client_id : std::uint64_t {};

/// Names one claim for ever: every request carries it, so that a request sent twice is harmless.
struct claim_id {
    static constexpr unsigned index_bits = 16;
    static constexpr std::uint64_t most_indexes = (std::uint64_t{1} << index_bits) - 1;

    client_id client{};
    /// Rises with age; its lowest bits are the index.
    std::uint64_t number{0};

    /// A small number that no two claims of a client have at one time, so that keys that cost a store something for ever
    /// are used again. Where claims end with their sessions, none that may still be at the store has it either. 0: none.
    [[nodiscard]] constexpr std::uint16_t index() const noexcept {
        return static_cast<std::uint16_t>(number & most_indexes);
    }

    auto operator<=>(claim_id const&) const = default;
};

/// A claim id as text, on the stack: `<client>-<number>` in hexadecimal digits.
class claim_words {
public:
    explicit claim_words(claim_id id) noexcept {
        base::write_hex(static_cast<std::uint64_t>(id.client), text_.data());
        text_[base::hex_digits] = '-';
        base::write_hex(id.number, text_.data() + base::hex_digits + 1);
    }
    operator std::string_view() const noexcept { return {text_.data(), text_.size()}; }

private:
    std::array<char, 2 * base::hex_digits + 1> text_;
};

[[nodiscard]] inline std::string to_string(claim_id id) { return std::string{claim_words{id}}; }

[[nodiscard]] inline std::optional<claim_id> parse_claim_id(std::string_view text) {
    if (text.size() != 33 || text[16] != '-') return std::nullopt;
    auto const client = base::parse_hex(text.substr(0, 16));
    auto const number = base::parse_hex(text.substr(17));
    if (!client || !number) return std::nullopt;
    return claim_id{client_id{*client}, *number};
}

/// The sequence of a grant; the token is sequence << 8 | pass.
enum class sequence : std::uint64_t {};

/// Names the thread (or explicit owner) behind a claim within its client, for deadlock reports.
enum class actor_id : std::uint64_t {};

/// What all claims of one synchronizer object have in common. Immutable and shared.
struct claim_spec {
    std::string name;
    lock_kind kind{lock_kind::lock};
    claim_mode mode{claim_mode::exclusive};
    std::uint32_t permits{1};
    std::uint32_t limit{0};  ///< the declared limit of a semaphore, else 0
    ordering order{ordering::barging};
    std::chrono::milliseconds lease{30'000};
    base::rare_text owner{};  ///< explicit owner, for people and for deadlock reports
    bool joins{false};        ///< claims of one owner that join are one hold, with one token
    base::rare_text label{};
    base::rare_text value{};  ///< what its holder tells everybody: a leader's words
    std::size_t hash{std::hash<std::string>{}(name)};  ///< of the name
};

using spec_ptr = std::shared_ptr<claim_spec const>;

struct claim {
    spec_ptr spec;
    claim_id id;
    actor_id actor{};

    [[nodiscard]] std::string const& name() const noexcept { return spec->name; }
};

}  // namespace holdfast::seam

template <>
struct std::hash<holdfast::seam::claim_id> {
    std::size_t operator()(holdfast::seam::claim_id const& id) const noexcept {
        return static_cast<std::size_t>(static_cast<std::uint64_t>(id.client) ^
                                        (id.number * 0x9e3779b97f4a7c15ULL));
    }
};
