#include "histories/summary.hpp"

#include <array>
#include <sstream>
#include <utility>

namespace holdfast::histories {

std::string summary_of(run_result const& result) {
    std::map<kind, int> counts;
    int unknown = 0;
    int already_lost = 0;
    for (auto const& one : result.history.events) {
        ++counts[one.kind];
        if (one.kind == kind::released && one.outcome == outcome::unknown) ++unknown;
        if (one.kind == kind::released && one.outcome == outcome::already_lost) ++already_lost;
    }
    constexpr std::array<std::pair<kind, char const*>, 9> shown{
        {{kind::granted, "grants"},
         {kind::refused, "not granted"},
         {kind::disbelieved, "losses seen"},
         {kind::fenced_write, "fenced writes"},
         {kind::fence_refused, "writes refused by the fence"},
         {kind::saw_open, "latches seen open"},
         {kind::tripped, "parties through a barrier"},
         {kind::woke, "waits for a condition"},
         {kind::evicted, "evictions"}}};
    std::ostringstream out;
    out << "  " << result.history.events.size() << " events";
    for (auto const& [what, words] : shown)
        out << ", " << counts[what] << " " << words;
    out << "\n  releases that came too late: " << already_lost
        << ", with an unknown end: " << unknown << "\n  faults:";
    for (auto const& [name, count] : result.faults)
        out << " " << name << " " << count << ";";
    out << "\n  worst time to recover: " << result.worst_recovery.count() << " ms, after "
        << result.worst_fault << "\n";
    return out.str();
}

std::string command_of(run_settings const& settings) {
    return settings.program + " --store " + settings.store + " --seed " +
           std::to_string(settings.seed) + " --seconds " +
           std::to_string(settings.lasts.count() / 1000) + (settings.careless ? " --careless" : "");
}

}  // namespace holdfast::histories
