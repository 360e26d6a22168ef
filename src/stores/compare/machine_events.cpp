// The part of the machine that hears: outcomes, letters, changes, ends and gaps; and that asks where nobody tells.
#include <algorithm>
#include <utility>

#include "stores/compare/machine.hpp"

namespace holdfast::stores::compare {

namespace {

using std::chrono::milliseconds;

// Where nothing is pushed, waiters look so soon after something has happened, and so seldom when nothing has.
constexpr milliseconds shortest_pause{2};
constexpr milliseconds longest_pause{200};
constexpr milliseconds longest_pause_of_next{10};  // whoever is next in a line
constexpr std::size_t names_per_look = 64;

}  // namespace

void machine::on_outcome(ticket which, outcome what, reading when) {
    client_.traits = client_.to.traits();
    client_.calls.complete(which, std::move(what), when);
    plan_look(false);
}

void machine::on_letter(session_id to, std::string const& body, stamp written) {
    try {
        for (auto& each : read_messages(body, written))
            std::visit([&](auto& what) { hear(to, what); }, each);
    } catch (std::system_error const&) {
        // Whoever can write to the store can write nonsense: what it was about is found by a look.
        client_.around.log(log_level::warning, "a message in the store cannot be read; ignored");
    }
}

// A letter counts only when it knows what nobody but the claim's own client and its entry in the store know.
own_claim* machine::addressed(session_id to, seam::claim_id id, std::uint64_t secret) {
    auto* const claim = client_.claims.find(id);
    if (claim == nullptr || claim->secret != secret) return nullptr;
    return claim->lives_with(to) ? claim : nullptr;
}

void machine::hear(session_id to, granted_message& what) {
    auto const* const claim = addressed(to, what.id, what.secret);
    if (claim == nullptr) return;
    if (what.after.written != stamp{} && what.after.key == claim->key)
        work_.learn(std::move(what.after));
    if (claim->held || claim->given_up) return;
    seam::grant held{.number = what.number, .contended = what.contended};
    client_.note_held(what.id, held, client_.stretch);
    client_.tell(seam::claim_granted{what.id, held, client_.time.last().clock});
}

void machine::hear(session_id to, gone_message& what) {
    if (addressed(to, what.id, what.secret) == nullptr) return;
    client_.claims.erase(what.id);
    client_.tell(seam::claim_gone{what.id, std::move(what.why)});
}

void machine::hear(session_id to, contended_message& what) {
    auto* const claim = addressed(to, what.id, what.secret);
    if (claim == nullptr || !claim->held) return;
    claim->contended = true;
    client_.tell(seam::name_contended{what.id});
}

void machine::hear(session_id, changed_message& what) {
    client_.tell(seam::changed{std::move(what.key)});
}

void machine::on_changed(name_key const& key) {
    auto const known = watches_.find(key);
    if (known == watches_.end()) return;
    for (auto const& each : known->second.keys)
        client_.tell(seam::changed{each});
}

// What was said in between is unknown: nothing that is remembered counts, and every claim is looked at when it
// is renewed, which the engine does at once.
void machine::on_gap() {
    client_.traits = client_.to.traits();
    ++client_.stretch;
    work_.forget_all();
    client_.tell(seam::session_changed{.became = seam::session_changed::state::restored});
    plan_look(true);
}

void machine::on_doubt(std::string why) {
    client_.traits = client_.to.traits();  // perhaps nothing is pushed for a time
    client_.tell(seam::session_changed{.became = seam::session_changed::state::in_doubt,
                                       .why = std::move(why)});
    plan_look(true);
}

void machine::lose(session_id which) {
    auto lost = client_.claims.erase_with(which);
    if (lost.empty()) return;
    client_.tell(seam::session_changed{.became = seam::session_changed::state::lost,
                                       .why = "the store has ended the client's session",
                                       .claims = std::move(lost)});
}

// --- where nothing is pushed ---------------------------------------------------------------------------

void machine::plan_look(bool something_happened) {
    if (client_.traits.pushes) {
        look_at_ = base::never;
        return;
    }
    bool const wanted = !watches_.empty() || !work_.waited_for().empty();
    if (!wanted) {
        look_at_ = base::never;
        return;
    }
    if (something_happened) look_pause_ = shortest_pause;
    if (something_happened || look_at_ == base::never) look_at_ = client_.time.boot() + look_pause_;
}

void machine::on_time() {
    auto const now = client_.time.boot();
    if (now < look_at_) return;
    look_pause_ = std::min(is_next_ ? longest_pause_of_next : longest_pause,
                           std::max(shortest_pause, look_pause_ * 3 / 2));
    // A store that answers more slowly than it is asked would never catch up.
    if (looks_under_way_ > 0) {
        look_at_ = now + look_pause_;
        return;
    }
    // With jitter, so that many clients do not ask at once.
    auto const spread = static_cast<std::uint64_t>(look_pause_.count() / 4 + 1);
    look_at_ = now + look_pause_ + milliseconds{client_.random.below(spread)};
    auto names = work_.waited_for();
    for (auto const& [key, watched] : watches_)
        names.insert(key);
    std::vector<name_query> queries;
    auto const flush = [&] {
        if (queries.empty()) return;
        ++looks_under_way_;
        many_.fetch(std::exchange(queries, {}), [this, asked_in = client_.stretch](
                                                    std::vector<view>* seen, base::error const&) {
            --looks_under_way_;
            if (seen != nullptr) on_looked_at(*seen, asked_in);
        });
    };
    for (auto const& key : names) {
        queries.push_back({.key = key, .line = 1});
        if (queries.size() == names_per_look) flush();
    }
    flush();
}

void machine::on_looked_at(std::vector<view> const& seen, std::uint64_t stretch) {
    auto const before = client_.out.notices.size();
    is_next_ = std::ranges::any_of(seen, [&](view const& each) {
        return !each.line.empty() && client_.claims.find(each.line.front().id) != nullptr;
    });
    for (auto const& each : seen) {
        work_.observe(each, stretch);
        auto const watched = watches_.find(each.key);
        if (watched != watches_.end() &&
            std::exchange(watched->second.seen, each.written) != each.written)
            on_changed(each.key);
        bool const free = each.written == stamp{} && !each.line.empty();
        if (free) work_.touch(each.key);
    }
    if (client_.out.notices.size() > before) plan_look(true);
}

}  // namespace holdfast::stores::compare
