// The part of the work on names that joins operations of one client into one step, or needs none.
#include <algorithm>
#include <utility>

#include "stores/compare/name_work.hpp"

namespace holdfast::stores::compare {

namespace {

bool is_about_one_of(std::vector<std::shared_ptr<name_operation>> const& all,
                     name_operation const& op) {
    auto const* const subject = op.what ? subject_of(*op.what) : nullptr;
    return subject != nullptr && std::ranges::any_of(all, [&](auto const& each) {
               auto const* const other = subject_of(*each->what);
               return other != nullptr && other->id == subject->id;
           });
}

bool may_join_line(name_operation const& op) {
    auto const* const wanted = op.what ? std::get_if<seam::submit>(&*op.what) : nullptr;
    return wanted != nullptr && wanted->queue;
}

}  // namespace

// What is not in the store, and was not to come there, need not be asked for; but the answer tells the store's time,
// which must be of after the question.
bool name_work::answer_without_store(operation const& op) {
    auto const* const subject = op->what ? subject_of(*op->what) : nullptr;
    if (noted_as_of_ < op->begun) return false;
    if (subject == nullptr || client_.claims.find(subject->id) != nullptr) return false;
    if (std::holds_alternative<seam::settle>(*op->what)) {
        finish(op, seam::settled{seam::ending::gone});
        return true;
    }
    auto const* const wanted = std::get_if<seam::submit>(&*op->what);
    if (wanted == nullptr) return false;
    bool const late = client_.time.judging_time().now > wanted->not_after;
    if (!late && !op->tombstone) return false;
    finish(op, seam::refused{.why = seam::refusal::too_late});
    return true;
}

// Whether it can go into a step of this session with others.
bool name_work::joinable(name_operation const& op, own_session const& with) {
    if (!op.what || op.alone || op.refusal || op.moves) return false;
    if (auto const* const wanted = std::get_if<seam::submit>(&*op.what)) {
        auto const& spec = *wanted->subject.spec;
        // Who stands in the line unjudged is one of those who wait, unless it may pass or join others.
        if (op.appended && (spec.mode == claim_mode::permits || spec.joins)) return false;
        return client_.sessions.serves(spec.lease) == with.id;
    }
    // One claim of somebody else's: it costs a letter, and who is let in instead of it.
    if (auto const* const ends = std::get_if<seam::evict>(&*op.what)) return ends->only.has_value();
    auto const* const swap = std::get_if<seam::swap>(&*op.what);
    if (swap != nullptr && swap->guard &&
        client_.sessions.serves(swap->guard->spec->lease) != with.id)
        return false;
    if (auto const* const settles = std::get_if<seam::settle>(&*op.what)) {
        auto const* const claim = client_.claims.find(settles->subject.id);
        if (claim != nullptr && claim->session != with.id &&
            client_.sessions.is_suspect(claim->session))
            return false;
    }
    if (std::holds_alternative<seam::settle>(*op.what) ||
        std::holds_alternative<seam::swap>(*op.what))
        return client_.traits.clock || !lasting_of(*op.what) || op.end != session_id{};
    return false;
}

// The operation and those behind it that need not wait until it is done.
name_work::group name_work::together_with(operation const& op) {
    group out{op};
    if (!joinable(*op, op->session)) return out;
    auto const& queue = names_[op->key].queue;
    for (std::size_t i = 1; i < queue.size() && out.size() < most_together; ++i) {
        auto const& each = queue[i];
        // What becomes of a claim is known before it is asked for again.
        if (each->seen || is_about_one_of(out, *each)) break;
        if (auto const lasts = each->what ? lasting_of(*each->what) : std::nullopt;
            lasts && lasts->shared && !client_.traits.clock && each->end == session_id{})
            each->end = client_.sessions.known_end(lasts->span);
        take_up(*each);
        if (!joinable(*each, op->session)) break;
        if (!client_.traits.ordered_appends && may_join_line(*each) &&
            std::ranges::any_of(out, [](auto const& other) { return may_join_line(*other); }))
            break;
        each->enter(op->session);
        out.push_back(each);
    }
    return out;
}

}  // namespace holdfast::stores::compare
