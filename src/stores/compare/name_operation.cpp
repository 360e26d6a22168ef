#include "stores/compare/name_operation.hpp"

namespace holdfast::stores::compare {

base::error too_many_others() {
    return {errc::store_unavailable,
            "too many others changed the name at the same time: it is tried again"};
}

seam::claim const* subject_of(seam::request const& what) {
    if (auto const* const submit = std::get_if<seam::submit>(&what)) return &submit->subject;
    if (auto const* const settle = std::get_if<seam::settle>(&what)) return &settle->subject;
    if (auto const* const convert = std::get_if<seam::convert>(&what)) return &convert->subject;
    if (auto const* const renew = std::get_if<seam::renew>(&what))
        return renew->items.size() == 1 ? &renew->items.front().subject : nullptr;
    if (auto const* const swap = std::get_if<seam::swap>(&what))
        return swap->guard ? &*swap->guard : nullptr;
    return nullptr;
}

std::optional<lasting> lasting_of(seam::request const& what) {
    constexpr std::chrono::hours limit_remembered{24};
    if (auto const* const settle = std::get_if<seam::settle>(&what))
        if (settle->keep_for > std::chrono::milliseconds::zero())
            return lasting{settle->keep_for, false};
    if (auto const* const swap = std::get_if<seam::swap>(&what))
        if (!swap->remove) return lasting{swap->ttl, true};
    if (auto const* const adjust = std::get_if<seam::adjust>(&what))
        if (adjust->current) return lasting{limit_remembered, true};
    return std::nullopt;
}

line_item waiter_of(seam::submit const& wanted, judging const& context) {
    claim_record waiter;
    waiter.subject = wanted.subject;
    waiter.mode = wanted.subject.spec->mode;
    waiter.permits = wanted.subject.spec->permits;
    waiter.since = context.when.now;
    waiter.secret = context.secret;
    return {.id = wanted.subject.id,
            .session = context.session.id,
            .body = write_waiter(waiter, context.when)};
}

}  // namespace holdfast::stores::compare
