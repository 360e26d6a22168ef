// event: one thing that happened in a run, as the one who did it saw it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace holdfast::histories {

/// Nanoseconds of CLOCK_BOOTTIME: one clock for all processes of a run.
using instant = std::int64_t;
inline constexpr instant second = 1'000'000'000;
inline constexpr instant millisecond = 1'000'000;

enum class kind : std::uint8_t {
    none,
    // A call for a hold, joined by `event::call`.
    asked,        ///< about to be called
    granted,      ///< it holds; `number` is the permits
    refused,      ///< it holds nothing: busy, stopped, or the error in `note`
    believed,     ///< held() said true between `before` and `after`; `number` is remaining() in ns
    disbelieved,  ///< held() said false
    weakened,     ///< an exclusive hold became a shared one; `after` 0 when it only begins
    releasing,    ///< about to give it back; `number` is remaining() in ns
    released,     ///< the answer, in `outcome`
    contradiction,  ///< two words of the product about one hold that cannot both be true
    // The fenced register of a name, in the order in which it was used (`serial`).
    fenced_read,   ///< `number` is the value
    fenced_write,  ///< `number` is the value written, `second_number` the value it was made from
    fence_refused,
    // Latch: `second_number` is the count that was declared.
    counting_down,  ///< about to
    counted_down,
    saw_open,    ///< a wait that ended, or try_wait() that said true
    saw_closed,  ///< try_wait() said false
    saw_count,   ///< `number` is what count() said
    // Barrier: `second_number` is the parties.
    arriving,  ///< about to
    tripped,   ///< `number` is the generation
    broken,  ///< it did not; `number` is 1 when that is certain, 0 after an error that leaves it open
    // Condition: its register has `number` of things to take.
    waiting,  ///< about to wait; the predicate said no
    woke,     ///< the wait ended, in whichever way
    notified,
    // Election.
    saw_leader,  ///< `token` of who leads, 0 for nobody
    heard,       ///< an observer was told the same; `call` is the observer
    // Eviction.
    evicting,
    evicted,  ///< `number` is how many
    // A party of a worker.
    party_began,
    party_failed,  ///< with an error that nobody expects, in `note`
    party_ended,
    // The run, told by whoever injects the faults.
    fault_began,  ///< `note` is the fault; `number` the worker concerned, or -1
    fault_ended,
    killed,       ///< `worker` and `incarnation` are gone, between `before` and `after`
    forgot,       ///< the store lost what it had acknowledged, between `before` and `after`
    ended_holds,  ///< holds may be lost before their leases are over, between `before` and `after`
    healed,       ///< no fault is active from here on
    stuck,        ///< a party made no progress in time after that
    finishing,    ///< the parties are told to end
    leftover,     ///< something was left behind, in `note`
};

enum class mode : std::uint8_t { exclusive, shared, permits };

/// What a release said.
enum class outcome : std::uint8_t { none, released, already_lost, unknown };

/// Fixed in size, so that one in shared memory is whole or not there.
struct event {
    instant before{0};  ///< read before the call, or before whatever was asked
    instant after{0};   ///< read when it had returned
    std::uint64_t call{0};
    std::uint64_t token{0};
    std::int64_t number{0};
    std::int64_t second_number{0};
    std::uint64_t serial{0};
    std::int16_t worker{-1};
    std::uint16_t incarnation{0};
    std::int16_t party{-1};
    histories::kind kind{kind::none};
    histories::mode mode{mode::exclusive};
    histories::outcome outcome{outcome::none};
    char name[15]{};
    char note[72]{};

    [[nodiscard]] std::string_view name_view() const {
        return {name, ::strnlen(name, sizeof name)};
    }
    [[nodiscard]] std::string_view note_view() const {
        return {note, ::strnlen(note, sizeof note)};
    }
    void set_name(std::string_view text) { copy(text, name, sizeof name); }
    void set_note(std::string_view text) { copy(text, note, sizeof note); }

private:
    static void copy(std::string_view text, char* to, std::size_t room) {
        std::memset(to, 0, room);
        text.copy(to, room);
    }
};
static_assert(std::is_trivially_copyable_v<event> && sizeof(event) == 152);

[[nodiscard]] instant boot_time() noexcept;

[[nodiscard]] char const* to_string(kind of) noexcept;
[[nodiscard]] char const* to_string(mode of) noexcept;
[[nodiscard]] char const* to_string(outcome of) noexcept;

/// One line for people; times are relative to `origin`.
[[nodiscard]] std::string describe(event const& one, instant origin);

}  // namespace holdfast::histories
