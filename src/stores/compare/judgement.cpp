#include "stores/compare/judgement.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::compare {

namespace {

// The notices of a judgement become letters to sessions, or stay here.
class post {
public:
    post(working_copy const& copy, judging const& context, change const& made, verdict& out)
        : copy_{copy}, context_{context}, change_{made}, out_{out} {}

    void send(lease::directed_notice&& notice) {
        if (notice.to == context_.self->id) {
            out_.own.push_back(std::move(notice.what));
            return;
        }
        std::visit([&](auto const& what) { put(notice.to, what); }, notice.what);
    }

    [[nodiscard]] std::vector<letter> take() && { return std::move(letters_); }

private:
    void put(seam::client_id, seam::claim_granted const& what) {
        granted_message out{.id = what.id, .number = what.held.number};
        out.contended = what.held.contended;
        out.after = change_.after;
        address(what.id, std::move(out));
    }
    void put(seam::client_id, seam::claim_gone const& what) {
        address(what.id, gone_message{.id = what.id, .why = what.why});
    }
    void put(seam::client_id, seam::name_contended const& what) {
        address(what.id, contended_message{.id = what.id});
    }
    void put(seam::client_id to, seam::changed const& what) {
        if (auto const session = copy_.session_of(to)) write(*session, changed_message{what.key});
    }
    void put(seam::client_id, seam::session_changed const&) {}

    template <class Message>
    void address(seam::claim_id id, Message what) {
        auto const* const to = copy_.find_addressee(id);
        if (to == nullptr || copy_.is_dead(to->session)) return;
        what.secret = to->secret;
        write(to->session, what);
    }

    // One letter for each session.
    void write(session_id to, message const& what) {
        auto known = std::ranges::find(letters_, to, &letter::to);
        if (known == letters_.end()) known = letters_.insert(known, letter{.to = to, .body = {}});
        auto const limit = context_.traits.letter_bytes;
        known->body +=
            write_message(what, limit - std::min<std::size_t>(limit, known->body.size()));
    }

    working_copy const& copy_;
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

}  // namespace

std::variant<verdict, miss> judge(view const& seen, seam::request const* what,
                                  std::vector<seam::claim_id> const& asked,
                                  judging const& context) {
    if (needs_whole_line(what, seen)) return miss{.whole_line = true};
    try {
        working_copy copy{seen, asked, context};
        std::vector<lease::directed_notice> notices;
        lease::rules rules{copy, context.when.now, context.self, notices};
        verdict out;
        if (what != nullptr)
            out.body = rules.handle(*what);
        else if (auto* const record = copy.record()) {
            rules.settle_time(*record);
            out.body = seam::done{};
        }
        auto made = copy.changes();
        out.unverified = copy.unverified();
        out.full = made.full;
        post letters{copy, context, made, out};
        for (auto& notice : notices)
            letters.send(std::move(notice));
        auto written = std::move(letters).take();
        bool const nothing =
            !made.head_changed && made.leave.empty() && made.append.empty() && written.empty();
        out.after = std::move(made.after);
        if (nothing) return out;
        out.head_written = made.head_changed;
        auto& next = out.next.emplace();
        next.key = seen.key;
        next.expected = seen.written;
        next.present = made.leave;
        next.nobody_behind = made.nobody_behind;
        if (made.head_changed) next.head = std::move(made.head);
        next.leave = std::move(made.leave);
        next.append = std::move(made.append);
        next.letters = std::move(written);
        return out;
    } catch (miss& missing) {
        return std::move(missing);
    }
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
        decided.full = true;
    } else if (next.nobody_behind) {
        next.nobody_behind = mine.place;
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
    auto const in_line = std::ranges::find(seen.line, id, &line_item::id);
    auto const in_others = std::ranges::find(seen.others, id, &line_item::id);
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
    if (auto* const renewed = std::get_if<seam::renewed>(&body))
        for (auto& item : renewed->items)
            resolve(item.held, written);
}

void resolve(seam::notice& what, stamp written) {
    if (auto* const granted = std::get_if<seam::claim_granted>(&what))
        resolve(granted->held, written);
}

}  // namespace holdfast::stores::compare
