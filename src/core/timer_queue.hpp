// Things that come due: the elements of the engine's one deadline-ordered queue.
#pragma once

#include "base/clock.hpp"
#include "base/indexed_heap.hpp"

namespace holdfast::core {

struct timed {
    enum class kind { claim, acquire, operation, task, renewals };

    explicit timed(kind own) noexcept : what{own} {}

    kind what;
    base::instant due{base::never};
    base::heap_place place{};
};

struct due_first {
    static base::instant key(timed const& entry) noexcept { return entry.due; }
    static base::heap_place& place(timed& entry) noexcept { return entry.place; }
};

using timer_queue = base::indexed_heap<timed, due_first>;

}  // namespace holdfast::core
