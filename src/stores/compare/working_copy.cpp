#include "stores/compare/working_copy.hpp"

#include <algorithm>
#include <utility>

#include "stores/compare/identity_text.hpp"

namespace holdfast::stores::compare {

namespace {

using std::chrono::milliseconds;

// Without a sign from the store, something that ends with a session is asked about again so soon.
constexpr milliseconds guessed_end{1000};

template <class Claims>
auto find_in(Claims& claims, seam::claim_id id) {
    auto const found =
        std::ranges::find(claims, id, [](auto const& each) { return each.subject.id; });
    return found == claims.end() ? nullptr : &*found;
}

// The holders and waiters are the copy's own, so an entry that the rules have is a claim of ours.
claim_record& ours(lease::entry& entry) { return static_cast<claim_record&>(entry); }

bool erase_from(std::list<claim_record>& claims, claim_record const& which) {
    return claims.remove_if([&](claim_record const& each) { return &each == &which; }) > 0;
}

}  // namespace

working_copy::working_copy(view const& seen, std::vector<seam::claim_id> const& asked,
                           judging const& context, std::size_t requests)
    : context_{&context}, requests_{requests}, seen_{seen}, asked_{asked}, ballots_{seen.ballot} {
    attend(context);
    for (auto const& state : seen.sessions)
        sessions_.insert_or_assign(state.id, state);
    load_head(seen);
    load_line(seen);
    count();
}

void working_copy::attend(judging const& context) noexcept {
    context_ = &context;
    wakes_ = wakes_ || context.wakes;
    tells_first_ = tells_first_ || context.tells_first;
}

void working_copy::load_head(view const& seen) {
    head_.record.name = seen.key.name;
    if (seen.written == stamp{}) return;
    head_ = read_head(seen.key, seen.body, seen.written, context_->when);
    exists_ = true;
    if (head_.limit_kept != due{}) limit_end_ = head_.record.keep_until = end_of(head_.limit_kept);
    if (limit_end_ <= context_->when.now) head_.limit_kept = {};
    body_before_ = write_head(head_, context_->when);
    for (auto& holder : head_.holders)
        enliven(holder);
    for (auto& [part, cell] : head_.cells)
        cell.expires = end_of(cell.end);
}

void working_copy::load_line(view const& seen) {
    auto const load = [&](std::vector<line_item> const& from, std::list<claim_record>& to) {
        for (auto const& item : from) {
            auto made = read_waiter(seen.key, item, context_->when);
            if (!belongs(*made.subject.spec)) continue;
            enliven(made);
            // It stood there before, with a session that has died since.
            for (auto* const part : {&line_, &others_})
                part->remove_if([&](auto const& each) { return each.subject.id == item.id; });
            to.push_back(std::move(made));
        }
    };
    load(seen.line, line_);
    load(seen.others, others_);
    // Somebody waits, and nobody knows who: a letter had no room for it, or we have just joined ourselves.
    if (seen.more && line_.empty()) throw miss{};
}

// Who joined the line before it looked may want the name as what it is not. Its own client takes it out again; until
// then it is nobody. Where nothing else says what the name is, the first in the line does.
bool working_copy::belongs(seam::claim_spec const& spec) {
    auto& record = head_.record;
    if (!std::exchange(exists_, true)) {
        record.kind = spec.kind;
        record.declared = record.current = spec.limit;
    }
    return record.kind == spec.kind &&
           (spec.mode != claim_mode::permits || record.declared == spec.limit);
}

// When it ends, by what is known of its session.
void working_copy::enliven(claim_record& claim) {
    claim.expires =
        claim.kept ? end_of(claim.end) : end_of_session(claim.session, claim.subject.spec->lease);
    claim.began = context_->session.began;
    auto who = std::make_shared<seam::identity>();
    who->id = claim.subject.id.client;
    if (claim.subject.id.client == context_->self->id) {
        claim.who = context_->self;
        return;
    }
    if (auto const known = sessions_.find(claim.session); known != sessions_.end())
        read_identity(known->second.body, *who);
    claim.who = std::move(who);
}

seam::store_time working_copy::end_of_session(session_id id, milliseconds lease) {
    auto const now = context_->when.now;
    constexpr seam::store_clock::duration moment{1};
    if (id == context_->session.id) return now + std::max(lease, milliseconds{1});
    if (context_->dead != nullptr && context_->dead->contains(id)) return now;
    auto const known = sessions_.find(id);
    if (known == sessions_.end()) {
        unverified_.push_back(id);
        return now + std::max(lease, milliseconds{1});
    }
    if (!known->second.alive) return now;
    if (known->second.expires == seam::store_time{}) return now + std::max(lease, milliseconds{1});
    return std::max(known->second.expires, now + moment);
}

seam::store_time working_copy::end_of(due end) {
    return end.session == session_id{} ? end.at : end_of_session(end.session, guessed_end);
}

due working_copy::due_at(seam::store_time when) const {
    // What is kept is kept from now on, not from when the store last told its time.
    return context_->traits.clock ? due{.at = when + context_->lag} : due{.session = context_->end};
}

void working_copy::count() {
    auto& record = head_.record;
    record.holders = static_cast<std::uint32_t>(head_.holders.size());
    record.waiters = static_cast<std::uint32_t>(line_.size() + others_.size());
    record.cells = static_cast<std::uint32_t>(head_.cells.size());
    record.used = record.fair_waiters = 0;
    for (auto const& holder : head_.holders) {
        record.shared = holder.mode == claim_mode::shared;
        if (holder.mode == claim_mode::permits) record.used += holder.permits;
    }
    for (auto const* const part : {&line_, &others_})
        for (auto const& waiter : *part)
            if (waiter.subject.spec->order == ordering::fair) ++record.fair_waiters;
}

// --- names ---------------------------------------------------------------------------------------

lease::name_record* working_copy::find(std::string_view name, std::size_t, bool condition) {
    return exists_ && name == seen_.key.name && condition == seen_.key.condition ? &head_.record
                                                                                 : nullptr;
}

lease::name_record& working_copy::make(seam::claim_spec const& spec) {
    head_ = {};
    head_.record.name = spec.name;
    head_.record.kind = spec.kind;
    head_.record.declared = head_.record.current = spec.limit;
    exists_ = true;
    return head_.record;
}

void working_copy::save(lease::name_record& record) {
    if (record.keep_until != limit_end_) head_.limit_kept = due_at(record.keep_until);
}

void working_copy::erase(lease::name_record&) { exists_ = false; }

// --- claims --------------------------------------------------------------------------------------

lease::entry* working_copy::find(lease::name_record&, seam::claim_id id) {
    for (auto* const part : {&head_.holders, &line_, &others_})
        if (auto* const found = find_in(*part, id)) return found;
    // Who joins a line changes nothing else: that somebody was not seen in it proves nothing.
    bool const looked_for = std::ranges::find(asked_, id) != asked_.end();
    if (!looked_for) throw miss{.claims = {id}};
    return nullptr;
}

lease::entry& working_copy::add(lease::name_record&, lease::entry made) {
    claim_record added;
    static_cast<lease::entry&>(added) = std::move(made);
    added.session = context_->session.id;
    added.secret = context_->secret;
    added.began = context_->session.began;
    admitted_ = admitted_ || added.held;
    auto& to = added.held ? head_.holders : seen_.more ? others_ : line_;
    return to.emplace_back(std::move(added));
}

void working_copy::save(lease::name_record&, lease::entry& changed) {
    auto& claim = ours(changed);
    if (claim.kept && claim.end == due{}) claim.end = due_at(claim.expires);
    if (claim.held && !claim.kept && context_->moves == claim.subject.id) {
        claim.session = context_->session.id;
        // A store without a clock tells no more of a lease than what stands here.
        auto spec = std::make_shared<seam::claim_spec>(*claim.subject.spec);
        spec->lease = context_->session.lease;
        claim.subject.spec = std::move(spec);
    }
}

void working_copy::promote(lease::name_record&, lease::entry& waiter) {
    auto& claim = ours(waiter);
    if (claim.stored)
        leave_.push_back(item_of(claim));
    else
        passed_ = true;
    claim.stored = false;
    ++promoted_;
    notified_.note_let_in(claim.subject.id, {claim.session, claim.secret});
    for (auto* const part : {&line_, &others_})
        for (auto each = part->begin(); each != part->end(); ++each)
            if (&*each == &claim) {
                head_.holders.splice(head_.holders.end(), *part, each);
                return;
            }
}

void working_copy::remove(lease::name_record&, lease::entry& ended) {
    auto const& claim = ours(ended);
    if (claim.stored) leave_.push_back(item_of(claim));
    if (!claim.kept) {  // else its client has been told before
        notified_.note_ended(claim.subject.id, {claim.session, claim.secret});
        if (claim.held && claim.expires > context_->when.now) ++evicted_;
    }
    if (erase_from(head_.holders, claim) || erase_from(line_, claim)) return;
    erase_from(others_, claim);
}

lease::entry* working_copy::soonest_holder(lease::name_record&) {
    auto const soonest = std::ranges::min_element(head_.holders, {}, &claim_record::expires);
    return soonest == head_.holders.end() ? nullptr : &*soonest;
}

lease::entry* working_copy::first_waiter(lease::name_record& record) {
    if (std::max(promoted_, leave_.size()) >= step_limit()) {
        full_ = full_ || record.waiters > 0;
        return nullptr;
    }
    if (!line_.empty()) return &line_.front();
    if (!others_.empty() && seen_.more) throw miss{.whole_line = true};
    return others_.empty() ? nullptr : &others_.front();
}

std::size_t working_copy::step_limit() const noexcept {
    // A promotion is one out of the line and a letter; a request may be one into it, or an eviction's letter; the head
    // comes on top. Each of them draws a sequence. One request may evict several, with a letter each.
    auto const room = std::min<std::size_t>(sequences_per_step, context_->traits.writes / 2);
    auto const letters = evicted_ > requests_ ? (evicted_ - requests_ + 1) / 2 : 0;
    return room - std::min(room, requests_ + letters);
}

void working_copy::each_holder(lease::name_record&, visitor const& visit) {
    for (auto const& holder : head_.holders)
        visit(holder);
}

void working_copy::each_waiter(lease::name_record&, visitor const& visit) {
    if (seen_.more) throw miss{.whole_line = true};
    saw_all_ = true;
    for (auto const* const part : {&line_, &others_})
        for (auto const& waiter : *part)
            visit(waiter);
}

}  // namespace holdfast::stores::compare
