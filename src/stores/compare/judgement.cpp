#include "stores/compare/judgement.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::compare {

namespace {

// The notices of a judgement become letters to sessions, or stay here.
class post {
public:
    post(working_copy const& copy, judging const& context, change const& made, verdict& out)
        : copy_{copy}, notified_{copy.notified()}, context_{context}, change_{made}, out_{out} {}

    void send(lease::directed_notice&& notice) {
        auto const meant = claim_meant(notice.what);
        if (notice.to == context_.self->id) {
            out_.own.push_back({std::move(notice.what), meant ? meant->session : session_id{}});
            return;
        }
        if (auto const* const key = std::get_if<seam::changed>(&notice.what)) {
            if (auto const session = copy_.session_of(notice.to))
                write(*session, changed_message{key->key});
        } else if (meant && !copy_.is_dead(meant->session)) {
            std::visit([&](auto const& what) { write_to(*meant, what); }, notice.what);
        }
    }

    [[nodiscard]] std::vector<letter> take() && { return std::move(letters_); }

private:
    std::optional<addressee> claim_meant(seam::notice const& what) {
        if (auto const* const granted = std::get_if<seam::claim_granted>(&what))
            return notified_.let_in(granted->id);
        if (auto const* const gone = std::get_if<seam::claim_gone>(&what))
            return notified_.take_ended(gone->id);
        if (auto const* const crowd = std::get_if<seam::name_contended>(&what))
            if (auto const* const holder = copy_.holder(crowd->id))
                return addressee{holder->session, holder->secret};
        return std::nullopt;
    }

    void write_to(addressee const& to, seam::claim_granted const& what) {
        write(to.session, granted_message{.id = what.id,
                                          .secret = to.secret,
                                          .number = what.held.number,
                                          .contended = what.held.contended,
                                          .after = change_.after});
    }
    void write_to(addressee const& to, seam::claim_gone const& what) {
        write(to.session, gone_message{what.id, to.secret, what.why});
    }
    void write_to(addressee const& to, seam::name_contended const& what) {
        write(to.session, contended_message{what.id, to.secret});
    }
    // These are about no claim.
    void write_to(addressee const&, seam::changed const&) {}
    void write_to(addressee const&, seam::session_changed const&) {}

    // One letter for each session.
    void write(session_id to, message const& what) {
        auto known = std::ranges::find(letters_, to, &letter::to);
        if (known == letters_.end()) known = letters_.insert(known, letter{.to = to, .body = {}});
        auto const limit = context_.traits.letter_bytes;
        known->body +=
            write_message(what, limit - std::min<std::size_t>(limit, known->body.size()));
    }

    working_copy const& copy_;
    addressees notified_;
    judging const& context_;
    change const& change_;
    verdict& out_;
    std::vector<letter> letters_;
};

// A barging claim passes those who do not insist on their order: which nobody can say of a line half seen.
bool needs_whole_line(seam::request const* what, view const& seen) {
    if (what == nullptr || !seen.more) return false;
    if (auto const* const wanted = std::get_if<seam::submit>(what)) {
        auto const& spec = *wanted->subject.spec;
        return spec.mode == claim_mode::permits && spec.order == ordering::barging;
    }
    // As many are woken as wait.
    auto const* const adjusted = std::get_if<seam::adjust>(what);
    return adjusted != nullptr && adjusted->wake > 0;
}

// As the rules do it for one whom they saw.
void tell_first_of_kept(working_copy& copy, lease::name_record& record,
                        std::vector<lease::directed_notice>& notices) {
    auto const* const holder = copy.soonest_holder(record);
    auto const* const first = copy.first_waiter(record);
    if (holder == nullptr || !holder->kept || first == nullptr) return;
    notices.push_back(
        {first->who->id, seam::changed{{record.kind, record.name, seam::holders_part}}});
}

// As the rules do it when somebody joins the line.
void tell_holder(working_copy& copy, lease::name_record& record,
                 std::vector<lease::directed_notice>& notices) {
    auto const* const holder = copy.soonest_holder(record);
    if (holder != nullptr && !holder->kept && record.waiters > 0)
        notices.push_back({holder->who->id, seam::name_contended{holder->subject.id}});
}

void decide(working_copy& copy, asking const& each, std::vector<lease::directed_notice>& notices,
            verdict& out) {
    auto const& context = each.context;
    copy.attend(context);
    lease::rules rules{copy, context.when.now, context.self, notices};
    if (each.what != nullptr) {
        out.bodies.push_back(rules.handle(*each.what));
        return;
    }
    out.bodies.emplace_back(seam::done{});
    auto* const record = copy.record();
    if (record == nullptr) return;
    rules.settle_time(*record);
    rules.admit_joiners(*record);
    if (context.tells_first) tell_first_of_kept(copy, *record, notices);
    if (context.tells_holder) tell_holder(copy, *record, notices);
}

// Somebody waits, whom the rules have perhaps not seen.
void note_contended(verdict& out, std::vector<lease::directed_notice>& notices) {
    for (auto& body : out.bodies) {
        if (auto* const granted = std::get_if<seam::granted>(&body)) granted->held.contended = true;
        if (auto* const converted = std::get_if<seam::converted>(&body))
            converted->held.contended = true;
    }
    for (auto& notice : notices)
        if (auto* const granted = std::get_if<seam::claim_granted>(&notice.what))
            granted->held.contended = true;
}

// The step that makes of the name what the copy has become.
void conclude(working_copy const& copy, std::span<asking const> all,
              std::vector<lease::directed_notice>&& notices, view const& seen, verdict& out) {
    auto const& context = all.front().context;
    auto made = copy.changes();
    out.unverified = copy.unverified();
    out.full = made.full;
    if (made.after.more || !made.after.line.empty()) note_contended(out, notices);
    post letters{copy, context, made, out};
    for (auto& notice : notices)
        letters.send(std::move(notice));
    auto written = std::move(letters).take();
    bool const nothing =
        !made.head_changed && made.leave.empty() && made.append.empty() && written.empty();
    out.after = std::move(made.after);
    if (nothing) return;
    out.head_written = made.head_changed;
    auto& next = out.next.emplace();
    next.key = seen.key;
    next.expected = seen.written;
    next.present = made.leave;
    // Whom a letter told must be the one who is first.
    bool const tells =
        std::ranges::any_of(all, [](asking const& each) { return each.context.tells_first; });
    if (tells && !out.after.line.empty()) next.present.push_back(out.after.line.front());
    next.nobody_behind = made.nobody_behind;
    next.seen_places = std::move(made.seen_places);
    next.ballot = made.ballot;
    if (made.head_changed) next.head = std::move(made.head);
    next.leave = std::move(made.leave);
    next.append = std::move(made.append);
    next.letters = std::move(written);
}

}  // namespace

std::variant<verdict, miss> judge(view const& seen, std::span<asking const> all,
                                  std::vector<seam::claim_id> const& asked) {
    if (needs_whole_line(all.front().what, seen)) return miss{.whole_line = true};
    for (;;) {
        verdict out;
        try {
            working_copy copy{seen, asked, all.front().context, all.size()};
            std::vector<lease::directed_notice> notices;
            for (auto const& each : all) {
                if (needs_whole_line(each.what, seen)) throw miss{.whole_line = true};
                decide(copy, each, notices, out);
            }
            conclude(copy, all, std::move(notices), seen, out);
            return out;
        } catch (miss& missing) {
            // Those before it, then; or the first alone, where the whole was too much.
            if (all.size() == 1 || out.bodies.empty()) return std::move(missing);
            all = all.first(out.bodies.size() < all.size() ? out.bodies.size() : 1);
        }
    }
}

std::variant<verdict, miss> judge(view const& seen, seam::request const* what,
                                  std::vector<seam::claim_id> const& asked,
                                  judging const& context) {
    asking const one{what, context};
    return judge(seen, std::span{&one, 1}, asked);
}

namespace {

bool is_empty(step const& what) {
    return !what.head && what.leave.empty() && what.append.empty() && what.letters.empty();
}

// The claim is in the line already: it leaves it when it holds, and does not join it a second time.
void put_right(verdict& decided, line_item const& mine, bool others_behind, step next) {
    bool const waits =
        std::erase_if(next.append, [&](line_item const& each) { return each.id == mine.id; }) > 0;
    if (!waits) {
        next.leave.push_back(mine);
        next.present.push_back(mine);
    }
    if (next.nobody_behind && others_behind) {
        next.nobody_behind.reset();  // they are let in afterwards, if they can be
        next.seen_places.clear();
        decided.full = true;
    } else if (next.nobody_behind) {
        next.nobody_behind = mine.place;
        next.seen_places.push_back(mine.place);
    }
    decided.after.more = decided.after.more || waits || others_behind;
    decided.next.reset();
    if (!is_empty(next)) decided.next = std::move(next);
}

}  // namespace

std::variant<verdict, miss> judge_joined(view const& seen, seam::request const& what,
                                         std::vector<seam::claim_id> const& asked,
                                         judging const& context) {
    auto const id = std::get<seam::submit>(what).subject.id;
    // A dead session of its client may have left it there before.
    auto const session = context.session.id;
    auto const is_it = [&](line_item const& each) {
        return each.id == id && each.session == session;
    };
    auto const in_line = std::ranges::find_if(seen.line, is_it);
    auto const in_others = std::ranges::find_if(seen.others, is_it);
    bool const first_ones = in_line != seen.line.end();
    if (!first_ones && in_others == seen.others.end()) return judge(seen, &what, asked, context);
    auto const mine = first_ones ? *in_line : *in_others;
    auto before = seen;
    before.others.clear();
    if (first_ones) {
        before.line.assign(seen.line.begin(), in_line);
        before.more = false;
    }
    bool const others_behind = !first_ones || std::next(in_line) != seen.line.end() || seen.more;
    auto judged = judge(before, &what, asked, context);
    auto* const decided = std::get_if<verdict>(&judged);
    if (decided == nullptr || !decided->next) return judged;
    put_right(*decided, mine, others_behind, std::move(*decided->next));
    return judged;
}

namespace {

void resolve(seam::grant& held, stamp written) { held.number = resolved(held.number, written); }

void resolve(std::uint64_t& version, stamp written) {
    version = static_cast<std::uint64_t>(resolved(seam::sequence{version}, written));
}

}  // namespace

void resolve(seam::reply_body& body, stamp written) {
    if (auto* const granted = std::get_if<seam::granted>(&body)) resolve(granted->held, written);
    if (auto* const converted = std::get_if<seam::converted>(&body))
        resolve(converted->held, written);
    if (auto* const swapped = std::get_if<seam::swapped>(&body)) resolve(swapped->version, written);
    if (auto* const other = std::get_if<seam::conflict>(&body))
        resolve(other->current.version, written);
    if (auto* const renewed = std::get_if<seam::renewed>(&body))
        for (auto& item : renewed->items)
            resolve(item.held, written);
}

void resolve(seam::notice& what, stamp written) {
    if (auto* const granted = std::get_if<seam::claim_granted>(&what))
        resolve(granted->held, written);
}

}  // namespace holdfast::stores::compare
