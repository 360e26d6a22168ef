#include "stores/file/waiting_claims.hpp"

namespace holdfast::stores::file {

bool waiting_claims::note(seam::request const& what, seam::reply_body const& answer) {
    if (auto const* const submit = std::get_if<seam::submit>(&what)) {
        bool const queued = std::holds_alternative<seam::queued>(answer);
        if (!queued && !std::holds_alternative<seam::granted>(answer)) return false;
        auto const& claim = submit->subject;
        if (queued)
            all_.emplace(claim.id, claim.spec);
        else
            all_.erase(claim.id);
        return true;
    }
    if (auto const* const settle = std::get_if<seam::settle>(&what)) {
        all_.erase(settle->subject.id);
        return false;
    }
    if (auto const* const renew = std::get_if<seam::renew>(&what)) {
        note(*renew, std::get<seam::renewed>(answer));
        return true;
    }
    return std::holds_alternative<seam::watch>(what);
}

void waiting_claims::note(seam::renew const& what, seam::renewed const& answer) {
    for (std::size_t i = 0; i < answer.items.size(); ++i) {
        auto const& subject = what.items[i].subject;
        if (answer.items[i].found == seam::renewal::status::waiting)
            all_.emplace(subject.id, subject.spec);
        else
            all_.erase(subject.id);
    }
}

void waiting_claims::note(seam::notice const& what) {
    if (auto const* const granted = std::get_if<seam::claim_granted>(&what)) {
        all_.erase(granted->id);
    } else if (auto const* const gone = std::get_if<seam::claim_gone>(&what)) {
        all_.erase(gone->id);
    }
}

}  // namespace holdfast::stores::file
