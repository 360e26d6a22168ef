// recorder: writes down what one party does.
#pragma once

#include <cstdint>
#include <string_view>

#include "histories/event.hpp"
#include "histories/journal.hpp"

namespace holdfast::histories {

/// Which party of a run.
struct identity {
    std::int16_t worker{-1};
    std::uint16_t incarnation{0};
    std::int16_t party{-1};
};

/// Thread-safety: `append` may be called from any thread at once; `new_call` by its party only.
class recorder {
public:
    recorder(journal& to, identity who) : to_{to}, who_{who} {}

    [[nodiscard]] identity const& who() const noexcept { return who_; }

    /// A number that no other call of the run has.
    [[nodiscard]] std::uint64_t new_call() {
        auto const party = static_cast<std::uint64_t>(who_.party);
        auto const worker = static_cast<std::uint64_t>(who_.worker) + 1;
        return worker << 48 | std::uint64_t{who_.incarnation} << 40 | party << 32 | ++calls_;
    }

    /// Fills in who, and `after` unless it is set. Events that only begin something have none.
    void append(event one) {
        one.worker = who_.worker;
        one.incarnation = who_.incarnation;
        one.party = who_.party;
        to_.append(one);
    }

    /// For what happens at one moment.
    void append(kind of, std::string_view note = {}) {
        event one;
        one.kind = of;
        one.before = one.after = boot_time();
        one.set_note(note);
        append(one);
    }

    /// The party got on.
    void advance() { to_.advance(static_cast<std::size_t>(who_.party)); }

private:
    journal& to_;
    identity who_;
    std::uint64_t calls_{0};
};

}  // namespace holdfast::histories
