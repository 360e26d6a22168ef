// Things that come due: the elements of the engine's one deadline-ordered queue.
#pragma once

#include "base/clock.hpp"
#include "base/indexed_heap.hpp"

namespace holdfast::core {

struct timed {
    enum class kind { tenure, acquire, operation, script };

    explicit timed(kind its) noexcept : what{its} {}

    kind what;
    base::instant due{base::never};
    base::heap_place place{};
};

struct due_first {
    static base::instant key(timed const& it) noexcept { return it.due; }
    static base::heap_place& place(timed& it) noexcept { return it.place; }
};

using agenda = base::indexed_heap<timed, due_first>;

}  // namespace holdfast::core
