// What a driver has to tell, until somebody drives it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <holdfast/options.hpp>

#include "stores/compare/driver.hpp"

namespace holdfast::stores::compare {

using log_function = std::function<void(log_level, std::string)>;

/// Thread-safety: none; its owner serialises.
class outbox {
public:
    struct told_outcome {
        ticket which;
        outcome what;
        reading when;
    };
    struct told_letter {
        session_id to;
        std::string body;
        stamp written;
    };
    struct told_gap {};
    struct told_doubt {
        std::string why;
    };
    struct told_change {
        name_key key;
    };
    struct told_session_end {
        session_id which;
    };
    struct told_words {
        log_level level;
        std::string text;
    };
    using told = std::variant<told_outcome, told_letter, told_gap, told_doubt, told_change,
                              told_session_end, told_words>;

    void add(told what);

    void tell(ticket which, outcome what, reading when);
    /// Where the store has no clock: at the present time.
    void tell(ticket which, outcome what);
    /// A call has no answer. `certain`: it was not carried out, and will not be.
    void fail(ticket which, base::error why, bool certain);

    void letter(session_id to, std::string body, stamp written);
    void gap();
    void doubt(std::string why);
    void changed(name_key key);
    void session_end(session_id which);
    void log(log_level level, std::string text);

    [[nodiscard]] bool is_empty() const noexcept { return waiting_.empty(); }
    [[nodiscard]] std::vector<told> take() { return std::exchange(waiting_, {}); }

private:
    std::vector<told> waiting_;
};

/// Tells it all, in order; with no lock held.
void pass_on(std::vector<outbox::told>&& all, driver_events& events, log_function const& log);

}  // namespace holdfast::stores::compare
