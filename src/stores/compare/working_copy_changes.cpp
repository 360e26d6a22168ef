// The part of the working copy that is about cells, and about what has become of the name.
#include <algorithm>
#include <utility>

#include "stores/compare/working_copy.hpp"

namespace holdfast::stores::compare {

lease::cell_record* working_copy::find_cell(seam::cell_key const& key) {
    if (!exists_ || key.kind != head_.record.kind || key.name != seen_.key.name) return nullptr;
    auto const found = head_.cells.find(key.part);
    return found == head_.cells.end() ? nullptr : &found->second;
}

void working_copy::put_cell(seam::cell_key const& key, lease::cell_record value) {
    cell_state made;
    made.end = due_at(value.expires);
    static_cast<lease::cell_record&>(made) = std::move(value);
    head_.cells.insert_or_assign(key.part, std::move(made));
    head_.record.cells = static_cast<std::uint32_t>(head_.cells.size());
}

void working_copy::erase_cell(seam::cell_key const& key) {
    head_.cells.erase(key.part);
    head_.record.cells = static_cast<std::uint32_t>(head_.cells.size());
}

void working_copy::purge_cells(lease::name_record& record, seam::store_time now) {
    std::erase_if(head_.cells, [&](auto const& each) { return each.second.expires <= now; });
    record.cells = static_cast<std::uint32_t>(head_.cells.size());
}

// Who waits is known to live on some stores, and who holds is taken for alive until somebody looks.
std::optional<session_id> working_copy::session_of(seam::client_id client) const {
    for (auto const* const part : {&line_, &others_, &head_.holders})
        for (auto const& each : *part)
            if (each.subject.id.client == client && !is_dead(each.session)) return each.session;
    return std::nullopt;
}

bool working_copy::is_dead(session_id id) const {
    auto const known = sessions_.find(id);
    return known != sessions_.end() && !known->second.alive;
}

claim_record const* working_copy::holder(seam::claim_id id) const {
    claim_record const* last = nullptr;
    for (auto const& each : head_.holders)
        if (each.subject.id == id) last = &each;
    return last;
}

line_item working_copy::item_of(claim_record const& waiter) const {
    return {.id = waiter.subject.id,
            .session = waiter.session,
            .place = waiter.place,
            .body = write_waiter(waiter, context_->when)};
}

// Whether the rules would have decided otherwise, had they seen somebody in the line. Only what one holds alone stays
// as it is whoever waits. Whoever comes in must have seen that nobody waits: somebody who insists on the order may have
// joined, or may wait still behind a holder who died.
bool working_copy::relies_on_empty_line(bool has_head) const noexcept {
    auto const kind = head_.record.kind;
    if (!has_head || admits_more() || wakes_ || tells_first_) return true;
    if (kind == lock_kind::semaphore || kind == lock_kind::condition) return true;
    // Whoever comes in out of the line is told whether others wait.
    return admitted_ || promoted_ > 0;
}

// Whether somebody whom we have not seen in the line might be let in.
bool working_copy::admits_more() const noexcept {
    auto const& record = head_.record;
    if (!exists_) return true;
    if (record.kind == lock_kind::semaphore || record.kind == lock_kind::condition)
        return record.used < record.current;
    return record.holders == 0 || record.shared;
}

// What is only waited for has no head: its line says all there is to say.
bool working_copy::has_head() const noexcept {
    auto const& record = head_.record;
    if (!exists_) return false;
    return record.holders > 0 || record.cells > 0 || record.keep_until > context_->when.now ||
           (record.waiters > 0 && record.current != record.declared);
}

change working_copy::changes() const {
    change out;
    auto const& record = head_.record;
    bool const was = seen_.written != stamp{};
    bool const has = has_head();
    auto body = has ? write_head(head_, context_->when) : std::string{};
    out.head_changed = was != has || body != body_before_;
    out.leave = leave_;
    for (auto const* const part : {&line_, &others_})
        for (auto const& waiter : *part)
            if (!waiter.stored) out.append.push_back(item_of(waiter));
    out.full = full_;
    out.ballot = ballots_.made();
    bool const nobody_left = line_.empty() && others_.empty();
    // One of several requests came in, and those that wait now are behind it.
    bool const before_all = admitted_ && out.append.size() == line_.size() + others_.size();
    // A claim that passes those who wait has seen that none of them insists on the order.
    bool const passed =
        passed_ || (!nobody_left && admitted_ && head_.record.kind == lock_kind::semaphore);
    // Whoever waits for what its owner holds comes in with it, and must not have been overlooked.
    bool const searched = saw_all_ && promoted_ > 0;
    if (passed || before_all || searched || (nobody_left && relies_on_empty_line(has))) {
        bool const used_up = nobody_left && !passed && !before_all && !searched;
        if (seen_.more) throw miss{.whole_line = !used_up, .more_of_line = used_up};
        auto const& line = seen_.line;
        out.nobody_behind = line.empty() ? 0 : line.back().place;
        for (auto const& each : line)
            out.seen_places.push_back(each.place);
    }
    out.after = {.key = seen_.key, .written = has ? seen_.written : stamp{}, .body = body};
    out.after.sessions = seen_.sessions;
    out.after.more = seen_.more || !out.append.empty();
    for (auto const& waiter : line_)
        if (waiter.stored) out.after.line.push_back(item_of(waiter));
    if (!out.head_changed) return out;
    out.head = {.erase = !has, .body = std::move(body), .announced = announced_};
    if (!has) return out;
    out.head.sessions = sessions_of(head_);
    auto const& first = head_.holders;
    if (first.size() == 1 && first.front().mode == claim_mode::exclusive && !first.front().kept &&
        record.cells == 0 && head_.limit_kept == due{})
        out.head.bound = first.front().session;
    return out;
}

}  // namespace holdfast::stores::compare
