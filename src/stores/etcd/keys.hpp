// Where things are in etcd: one key for each head, claim in line, session and letter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stores/compare/view.hpp"

namespace holdfast::stores::etcd {

/// A half-open range of keys.
struct key_range {
    std::string begin;
    std::string end;
};

/// Below `prefix`, with `~` for a zero byte:
///     name/<name>                    head
///     line/<name>~<client>-<index>   claim in line; without an index its whole id is there
///     condition/…, condition-line/…  the same of conditions
///     session/<session>              session; its revision is the generation
///     mail/<session>/<n>             the last letter to a session that was the n-th of its step
class keys {
public:
    explicit keys(std::string prefix) : prefix_{std::move(prefix)} {}

    [[nodiscard]] std::string head(compare::name_key const& key) const;
    [[nodiscard]] std::string claim(compare::name_key const& key, seam::claim_id id) const;
    [[nodiscard]] key_range line(compare::name_key const& key) const;
    [[nodiscard]] std::string session(compare::session_id id) const;
    [[nodiscard]] std::string letter(compare::session_id to, std::size_t index) const;
    [[nodiscard]] key_range mail(compare::session_id to) const;

    /// All heads, or all lines, of names that begin with `prefix` and stand behind `after`.
    [[nodiscard]] key_range heads_behind(bool condition, std::string_view prefix,
                                         std::string_view after) const;
    [[nodiscard]] key_range lines_behind(bool condition, std::string_view prefix,
                                         std::string_view after) const;
    /// The name in the key of a head, or of a claim in line.
    [[nodiscard]] std::string name_of(std::string_view key, bool in_line) const;

private:
    std::string prefix_;
};

}  // namespace holdfast::stores::etcd
