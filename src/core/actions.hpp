// What the engine wants done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/retry.hpp>

#include "core/completion.hpp"
#include "core/hold_state.hpp"
#include "core/outbox.hpp"
#include "core/terms.hpp"

namespace holdfast::core {

/// A retry policy of the user's to be asked; the answer comes back by `engine::answer_retry`.
struct question {
    std::uint64_t ticket;
    terms_ptr policy_of;
    retry::attempt about;
};

/// What whoever runs the engine has to do, and the only way out of it; takes what is there after each event, and
/// clears it.
struct actions {
    outbox requests;
    std::vector<call_event> calls;                    ///< to be told at once, in this order
    std::vector<std::shared_ptr<hold_state>> losses;  ///< to be announced, on the loss thread
    std::vector<question> questions;
    std::vector<std::function<void()>> jobs;  ///< of tasks, for the notifier thread
    std::vector<std::string> warnings;        ///< for the log
};

}  // namespace holdfast::core
