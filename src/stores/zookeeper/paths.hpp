// Where things are in ZooKeeper: a node for each name, with those who wait for it below, session and letter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/compare/view.hpp"

namespace holdfast::stores::zookeeper {

/// A child of a name: one who waits.
struct waiting_child {
    std::string node;
    seam::claim_id id{};
    compare::session_id session{};
    std::uint64_t place{0};
};

/// Below `root`:
///     name/<name>                                 head; empty data: there is none
///     name/<name>/life-<number>                   tells this node from one that was there before
///     name/<name>/claim-<claim>-<session>-<place> claim in line
///     condition/...                               the same of conditions
///     session/<session>                           session; its version is the generation's
///     mail/<session>/<n>                          letters
class paths {
public:
    explicit paths(std::string root) : root_{std::move(root)} {}

    [[nodiscard]] std::string name(compare::name_key const& key) const {
        return folder(key.condition) + "/" + escaped(key.name);
    }
    [[nodiscard]] std::string folder(bool condition) const {
        return root_ + (condition ? "/condition" : "/name");
    }
    [[nodiscard]] std::string sessions() const { return root_ + "/session"; }
    [[nodiscard]] std::string session(compare::session_id id) const;
    [[nodiscard]] std::string all_mail() const { return root_ + "/mail"; }
    [[nodiscard]] std::string mail(compare::session_id id) const;
    [[nodiscard]] std::string letter(compare::session_id id, std::uint64_t number) const;

    /// What must be there, parents first.
    [[nodiscard]] std::vector<std::string> folders() const;

    /// A claim's node up to its place, which the server adds.
    [[nodiscard]] static std::string claim(compare::line_item const& item);
    [[nodiscard]] static std::string claim_at_its_place(compare::line_item const& item);
    [[nodiscard]] static std::optional<waiting_child> parse_claim(std::string_view node);
    [[nodiscard]] static std::string numbered(std::string prefix, std::uint64_t number);
    /// The number that the server has put at the end of a path.
    [[nodiscard]] static std::uint64_t place_in(std::string_view path);

    /// Any bytes as a part of a path, and back.
    [[nodiscard]] static std::string escaped(std::string_view name);
    [[nodiscard]] static std::string unescaped(std::string_view node);

private:
    std::string root_;
};

inline constexpr std::string_view life_prefix = "life-";

}  // namespace holdfast::stores::zookeeper
