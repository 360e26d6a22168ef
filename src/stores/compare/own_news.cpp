#include "stores/compare/own_news.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::compare {

std::optional<head_state> head_of(view const& seen, moment when) {
    if (seen.written == stamp{}) return std::nullopt;
    try {
        return read_head(seen.key, seen.body, seen.written, when);
    } catch (std::system_error const&) {
        return std::nullopt;
    }
}

bool own_news::on_answer(name_operation const& op, seam::reply_body& body) {
    if (op.what && std::holds_alternative<seam::renew>(*op.what)) return on_renewed(op, body);
    auto const* const subject = op.what ? subject_of(*op.what) : nullptr;
    if (subject == nullptr) return false;
    auto const id = subject->id;
    auto* const claim = client_.claims.find(id);
    if (std::holds_alternative<seam::submit>(*op.what)) {
        if (claim == nullptr || std::holds_alternative<seam::failure>(body)) return false;
        if (std::holds_alternative<seam::refused>(body)) {
            if (!claim->held && !claim->waiting) client_.claims.erase(id);
            return false;
        }
        if (auto* const granted = std::get_if<seam::granted>(&body)) {
            client_.note_held(id, granted->held, op.stretch);
            return false;
        }
        if (claim->held) {
            // A letter was faster than the answer, which is of before.
            seam::grant held{.number = claim->number, .contended = claim->contended};
            client_.fill_in(id, held);
            body = seam::granted{held};
            return false;
        }
        claim->waiting = true;
        return true;
    }
    if (auto const* const how = std::get_if<seam::settle>(&*op.what);
        how != nullptr && std::holds_alternative<seam::settled>(body))
        client_.claims.erase(id);
    else if (auto* const converted = std::get_if<seam::converted>(&body))
        client_.note_held(id, converted->held, op.stretch);
    return false;
}

bool own_news::on_renewed(name_operation const& op, seam::reply_body& body) {
    auto* const renewed = std::get_if<seam::renewed>(&body);
    if (renewed == nullptr) return false;
    auto const& items = std::get<seam::renew>(*op.what).items;
    bool waits = false;
    for (std::size_t i = 0; i < renewed->items.size(); ++i) {
        auto& item = renewed->items[i];
        auto const id = items[i].subject.id;
        auto* const claim = client_.claims.find(id);
        if (item.found == seam::renewal::status::gone) client_.claims.erase(id);
        if (claim == nullptr || item.found == seam::renewal::status::gone) continue;
        waits = waits || item.found != seam::renewal::status::alive;
        if (item.found != seam::renewal::status::alive) continue;
        if (op.moves) {
            claim->session = op.session.id;
            claim->moving_to = {};
        }
        client_.note_held(id, item.held, op.stretch);
    }
    return waits;
}

// To this client itself, about what its own step has done.
void own_news::on_committed(std::vector<std::shared_ptr<name_operation>> const& all,
                            own_notice told) {
    auto& what = told.what;
    // Of a claim that is being submitted the answer tells; what ended is what a dead session had left of it.
    auto const submitted = [&](seam::claim_id id) {
        return std::ranges::any_of(all, [&](auto const& each) {
            auto const* const wanted =
                each->what ? std::get_if<seam::submit>(&*each->what) : nullptr;
            return wanted != nullptr && wanted->subject.id == id;
        });
    };
    auto const settled = [&](seam::claim_id id) {
        return std::ranges::any_of(all, [&](auto const& each) {
            auto const* const ended =
                each->what ? std::get_if<seam::settle>(&*each->what) : nullptr;
            return ended != nullptr && ended->subject.id == id;
        });
    };
    if (auto* const granted = std::get_if<seam::claim_granted>(&what)) {
        auto const* const claim = client_.claims.find(granted->id);
        // Let in and ended by the same step, or about to be ended: nobody wants to hear of it.
        if (claim == nullptr || claim->given_up || settled(granted->id)) return;
        if (!claim->lives_with(told.session)) return;
        client_.note_held(granted->id, granted->held, all.front()->stretch);
        if (submitted(granted->id)) return;
        granted->clock = client_.time.last().clock;
    }
    if (auto const* const gone = std::get_if<seam::claim_gone>(&what)) {
        if (submitted(gone->id)) return;
        // The claim may live with another session meanwhile; and of one that is not known here its end was told before.
        auto const* const claim = client_.claims.find(gone->id);
        if (claim == nullptr || !claim->lives_with(told.session)) return;
        client_.claims.erase(gone->id);
    }
    client_.tell(std::move(what));
}

void own_news::observe(view const& seen, std::uint64_t stretch) {
    auto const head = head_of(seen, client_.time.judging_time());
    if (!head) return;
    for (auto const& holder : head->holders) {
        auto const id = holder.subject.id;
        auto* const claim = client_.claims.find(id);
        if (claim == nullptr || !claim->waiting || claim->given_up || holder.kept) continue;
        // The same claim may have been in the head before, by a session that is dead: a look that is late still shows that.
        if (holder.secret != claim->secret || holder.session != claim->session) continue;
        seam::grant held{.number = holder.number, .contended = !seen.line.empty()};
        client_.note_held(id, held, stretch);
        client_.tell(seam::claim_granted{id, held, client_.time.last().clock});
    }
}

}  // namespace holdfast::stores::compare
