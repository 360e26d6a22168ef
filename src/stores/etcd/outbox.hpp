// What a driver has to tell, until somebody drives it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <holdfast/options.hpp>

#include "stores/compare/driver.hpp"
#include "stores/etcd/fault.hpp"

namespace holdfast::stores::etcd {

using log_function = std::function<void(log_level, std::string)>;

/// Thread-safety: none; its owner serialises.
class outbox {
public:
    struct told_outcome {
        compare::ticket which;
        compare::outcome what;
        compare::reading when;
    };
    struct told_letter {
        compare::session_id to;
        std::string body;
        compare::stamp written;
    };
    struct told_gap {};
    struct told_doubt {
        std::string why;
    };
    struct told_words {
        log_level level;
        std::string text;
    };
    using told = std::variant<told_outcome, told_letter, told_gap, told_doubt, told_words,
                              compare::name_key, compare::session_id>;

    void tell(told what);
    /// At the present time, which is the store's.
    void tell(compare::ticket which, compare::outcome what);
    void tell(compare::ticket which, fault const& trouble);

    [[nodiscard]] bool is_empty() const noexcept { return waiting_.empty(); }
    [[nodiscard]] std::vector<told> take() { return std::exchange(waiting_, {}); }

private:
    std::vector<told> waiting_;
};

/// Tells it all, in order.
void pass_on(std::vector<outbox::told>&& all, compare::driver_events& events,
             log_function const& log);

}  // namespace holdfast::stores::etcd
