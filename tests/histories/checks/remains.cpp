// What nobody expects: parties that fail, calls that hang, things that are left behind.
#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

void remains(evidence const& from, findings& out) {
    for (auto const& one : from.all.events) {
        auto const note = std::string{one.note_view()};
        auto const who =
            "party " + std::to_string(one.party) + " of worker " + std::to_string(one.worker) + " ";
        if (one.kind == kind::party_failed)
            out.push_back({"error", who + "met: " + note, "", one.before, one.call, 0});
        if (one.kind == kind::stuck)
            out.push_back({"stuck", note, "", one.before, 0, 0, one.worker, one.party});
        if (one.kind == kind::leftover) out.push_back({"leftover", note, "", one.before, 0, 0});
    }
}

}  // namespace holdfast::histories::checks
