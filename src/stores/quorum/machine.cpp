#include "stores/quorum/machine.hpp"

#include <algorithm>

#include "stores/quorum/listing.hpp"

namespace holdfast::stores::quorum {

namespace {

constexpr char const* nothing_kept =
    "a quorum has locks and nothing else: what has to be counted or kept in one place cannot be "
    "voted "
    "on";

std::vector<member> members_at(std::vector<std::string> const& addresses) {
    std::vector<member> out(addresses.size());
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i].address = addresses[i];
    return out;
}

template <class... Calls>
struct overloaded : Calls... {
    using Calls::operator()...;
};
template <class... Calls>
overloaded(Calls...) -> overloaded<Calls...>;

}  // namespace

machine::machine(environment given)
    : members_{members_at(given.addresses)},
      rounds_{members_, *given.judge},
      membership_{members_, rounds_, *given.judge, given.agreed, given.self},
      watches_{members_, rounds_, given.seed, given.agreed.longest_lease},
      endings_{members_, rounds_, *given.judge},
      claims_{members_, rounds_, membership_, watches_, endings_, *given.judge, given.self},
      renewals_{members_, rounds_, claims_, *given.judge, given.agreed.longest_lease},
      evictions_{members_, rounds_, given.agreed.longest_lease} {}

void machine::take(seam::request_id id, seam::request const& what, base::instant now) {
    std::visit(overloaded{
                   [&](seam::hello const&) { membership_.greet(id, now); },
                   [&](seam::submit const& verb) { claims_.submit(id, verb, now); },
                   [&](seam::settle const& verb) { claims_.settle(id, verb, now); },
                   [&](seam::renew const& verb) { renewals_.renew(id, verb, now); },
                   [&](seam::convert const& verb) { renewals_.convert(id, verb, now); },
                   [&](seam::watch const& verb) { watches_.watch(id, verb, now); },
                   [&](seam::unwatch const& verb) { watches_.unwatch(id, verb, now); },
                   [&](seam::inspect const& verb) { inspect(id, verb, now); },
                   [&](seam::evict const& verb) { evictions_.evict(id, verb, now); },
                   [&](auto const&) { rounds_.fail(id, errc::unsupported, nothing_kept, now); },
               },
               what);
}

void machine::on_reply(std::size_t from, seam::request_id id, seam::reply const& answer,
                       base::instant now) {
    if (is_doubted(from, id) && !std::holds_alternative<seam::failure>(answer.body)) {
        doubted_.push_back({from, id, answer});
        return;
    }
    auto const about = rounds_.take_call(id);
    if (!about) return;
    membership_.learn(from, about->sent, answer, now);
    auto const* const failed = std::get_if<seam::failure>(&answer.body);
    if (about->about_record) {
        membership_.on_record_reply(from, answer, now);
        believe(from, now);
    } else if (failed != nullptr) {
        rounds_.cast(*about, {.is = vote::state::failed, .why = failed->error}, now);
    } else {
        if (about->ends) endings_.forget_owed(from, *about->ends);
        rounds_.cast(*about,
                     {.is = vote::state::answered,
                      .answer = answer.body,
                      .now = answer.now,
                      .clock = answer.clock},
                     now);
    }
    if (failed == nullptr) endings_.pay_owed(from, now);
}

bool machine::is_doubted(std::size_t from, seam::request_id id) const {
    auto const* const about = rounds_.find_call(id);
    return members_[from].doubted && about != nullptr && !about->about_record;
}

// What was said meanwhile counts if it was said by a server that has its record, and else for nothing; also when the
// record cannot be read.
void machine::believe(std::size_t from, base::instant now) {
    auto const& of = members_[from];
    if (of.doubted && of.state != standing::down) return;
    bool const same =
        !of.doubted && (of.state == standing::voting || of.state == standing::sitting_out);
    std::vector<doubted_reply> said;
    for (auto& each : std::exchange(doubted_, {}))
        (each.from == from ? said : doubted_).push_back(std::move(each));
    for (auto const& each : said)
        on_reply(from, each.id,
                 same ? each.answer
                      : seam::reply{.body = seam::failure{of.trouble}, .clock = each.answer.clock},
                 now);
}

void machine::on_notice(std::size_t from, seam::notice const& what, base::instant now) {
    if (auto const* const key = std::get_if<seam::changed>(&what)) {
        watches_.on_changed(from, *key, now);
    } else if (auto const* const gone = std::get_if<seam::claim_gone>(&what)) {
        // A hint: whoever holds it asks a majority.
        if (auto const asker = claims_.asker_of(gone->id))
            rounds_.tell(seam::claim_gone{*asker, gone->why});
    } else if (auto const* const session = std::get_if<seam::session_changed>(&what)) {
        using state = seam::session_changed::state;
        if (session->became != state::lost) membership_.doubt(from, now);
        if (session->became == state::restored) watches_.watch_again(from, now);
    }
}

void machine::on_time(base::instant now) {
    base::error const slow{errc::store_unavailable, "it did not answer in time"};
    for (auto const& each : rounds_.take_overdue(now)) {
        if (each.about_record) {
            membership_.on_record_reply(each.member, {{}, seam::failure{slow}}, now);
            believe(each.member, now);
        } else {
            rounds_.cast(each, {.is = vote::state::failed, .why = slow}, now);
        }
    }
    rounds_.on_time(now);
    membership_.on_time(now);
    watches_.on_time(now);
    claims_.on_time(now);
}

base::instant machine::next_time() const {
    return std::min(
        {rounds_.next_time(), membership_.next_time(), watches_.next_time(), claims_.next_time()});
}

// --- for people ----------------------------------------------------------------------------------

void machine::inspect(seam::request_id id, seam::inspect const& what, base::instant now) {
    auto& in = rounds_.open(id, now, [this, what](round& of, base::instant when) {
        if (!of.asker || of.pending() > 0) return;
        if (of.answered() < rounds_.majority())
            return rounds_.answer(of, rounds_.no_majority(&of), when);
        rounds_.answer(of, merged_page(of, what, rounds_.majority()), when);
    });
    rounds_.ask_all(in, what, membership_.agreed().longest_lease, now);
}

}  // namespace holdfast::stores::quorum
