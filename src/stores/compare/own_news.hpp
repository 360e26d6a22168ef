// What answers, steps and looks say of the claims of one's own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stores/compare/client_state.hpp"
#include "stores/compare/head.hpp"
#include "stores/compare/name_operation.hpp"

namespace holdfast::stores::compare {

/// The head of a view, or nothing where there is none or it cannot be read.
[[nodiscard]] std::optional<head_state> head_of(view const& seen, moment when);

/// Keeps what the client knows of its claims, and tells of what nobody has asked for.
///
/// Thread-safety: none; it belongs to its machine.
class own_news {
public:
    explicit own_news(client_state& client) : client_{client} {}

    /// The answer to an operation, which may be filled in. True when a claim of ours waits by it.
    [[nodiscard]] bool on_answer(name_operation const& op, seam::reply_body& body);
    [[nodiscard]] bool on_renewed(name_operation const& op, seam::reply_body& body);

    /// To this client itself, about what a step of these has done.
    void on_committed(std::vector<std::shared_ptr<name_operation>> const& all, own_notice told);

    /// Finds claims of ours that were granted while nobody told us. `stretch`: in which the view was asked for.
    void observe(view const& seen, std::uint64_t stretch);

private:
    client_state& client_;
};

}  // namespace holdfast::stores::compare
