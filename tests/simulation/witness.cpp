#include "simulation/witness.hpp"

#include <algorithm>
#include <utility>

#include "simulation/world.hpp"

namespace holdfast::simulation {

void witness::saw(seam::request const& asked, seam::reply const& answer,
                  std::vector<stores::lease::directed_notice> const& notices) {
    if (auto const* const evict = std::get_if<seam::evict>(&asked)) {
        // Nobody is told of what was only kept.
        std::erase_if(holds_, [&](auto const& each) {
            return each.second.kept && each.second.spec->name == evict->name;
        });
    }
    // What made room comes before those who were let in by it.
    if (auto const* const convert = std::get_if<seam::convert>(&asked))
        on_convert(*convert, answer);
    auto const* const adjust = std::get_if<seam::adjust>(&asked);
    auto const* const adjusted = std::get_if<seam::adjusted>(&answer.body);
    bool const new_limit = adjust != nullptr && adjusted != nullptr && adjust->current;
    if (new_limit)  // what time ended made room by the old limit
        limits_[adjust->subject.name()] = std::max(limit(*adjust->subject.spec), adjusted->current);
    saw_notices(std::get_if<seam::settle>(&asked), answer, notices);
    if (new_limit) limits_[adjust->subject.name()] = adjusted->current;
    if (auto const* const settle = std::get_if<seam::settle>(&asked))
        given_up_.insert(settle->subject.id);
    if (auto const* const submit = std::get_if<seam::submit>(&asked)) on_submit(*submit, answer);
    if (auto const* const renew = std::get_if<seam::renew>(&asked)) on_renew(*renew, answer);
}

// What time ended comes first, then what was asked for, then what that has freed. A claim that was
// granted in the same moment in which it was withdrawn ends after its grant, and after those who
// joined it.
void witness::saw_notices(seam::settle const* settle, seam::reply const& answer,
                          std::vector<stores::lease::directed_notice> const& notices) {
    auto const* const settled = std::get_if<seam::settled>(&answer.body);
    bool pending =
        settle != nullptr && settled != nullptr && settled->how == seam::ending::released;
    auto const end_it = [&] {
        if (std::exchange(pending, false))
            on_settled(settle->subject, settle->keep_for, answer.now);
    };
    auto const grant_in = [](auto const& each) {
        return std::get_if<seam::claim_granted>(&each.what);
    };
    auto const its_grant = std::ranges::find_if(notices, [&](auto const& each) {
        auto const* const grant = grant_in(each);
        return pending && grant != nullptr && grant->id == settle->subject.id;
    });
    for (auto const& each : notices) {
        if (auto const* const grant = grant_in(each)) {
            bool const before =
                its_grant != notices.end() &&
                (&each <= &*its_grant || grant->held.number == grant_in(*its_grant)->held.number);
            if (!before) end_it();
        }
        on_notice(each.what, answer.now);
    }
    end_it();
}

void witness::on_submit(seam::submit const& asked, seam::reply const& answer) {
    if (auto const* const granted = std::get_if<seam::granted>(&answer.body)) {
        auto const& claim = asked.subject;
        auto const found = holds_.find(claim.id);
        bool const again = found != holds_.end() && found->second.expires > answer.now &&
                           found->second.number == granted->held.number;
        if (!again) begin(claim.id, claim.spec, granted->held, false);
    } else if (std::holds_alternative<seam::queued>(answer.body)) {
        auto const& claim = asked.subject;
        if (find_wait(claim.id) == nullptr)
            lines_[claim.name()].push_back(
                {claim.id, claim.spec, answer.now + world_.plan.given(claim.spec->lease)});
    }
}

void witness::on_renew(seam::renew const& asked, seam::reply const& answer) {
    auto const* const renewed = std::get_if<seam::renewed>(&answer.body);
    if (renewed == nullptr) return;
    for (std::size_t i = 0; i < asked.items.size(); ++i) {
        auto const& item = asked.items[i];
        bool const in_session = world_.plan.session;  // whose lease no renewal changes
        auto const until =
            answer.now + (in_session ? world_.plan.given(item.subject.spec->lease) : item.lease);
        if (renewed->items[i].found == seam::renewal::status::alive) {
            auto const found = holds_.find(item.subject.id);
            if (found == holds_.end()) {
                world_.fail("witness", "the store renewed a hold that it never granted");
                return;
            }
            found->second.lease = item.lease;
            found->second.expires = std::max(found->second.expires, until);
            world_.tell([&](checker& it) { it.extended(found->second); });
        } else if (auto* const wait = find_wait(item.subject.id)) {
            wait->expires = std::max(wait->expires, until);
        }
    }
}

void witness::on_convert(seam::convert const& asked, seam::reply const& answer) {
    auto const found = holds_.find(asked.subject.id);
    if (found == holds_.end() || !std::holds_alternative<seam::converted>(answer.body)) return;
    auto changed = *found->second.spec;
    changed.mode = asked.mode;
    changed.permits = asked.permits;
    found->second.spec = std::make_shared<seam::claim_spec const>(std::move(changed));
}

void witness::on_settled(seam::claim const& subject, std::chrono::milliseconds keep_for,
                         seam::store_time now) {
    auto const found = holds_.find(subject.id);
    if (found == holds_.end()) {
        if (!waiting(subject.id) && ends(subject.id).empty())
            world_.fail("witness", "the store released what it never had");
        leave_line(subject.id);
        return;
    }
    if (found->second.kept) return;
    if (keep_for.count() > 0) {
        found->second.kept = true;
        found->second.expires = now + keep_for;
        auto const copy = found->second;
        ends_[subject.id].push_back(store_end::settled);
        world_.tell([&](checker& it) { it.ended(copy, store_end::settled); });
        return;
    }
    end(subject.id, store_end::settled);
}

void witness::on_notice(seam::notice const& what, seam::store_time) {
    if (auto const* const granted = std::get_if<seam::claim_granted>(&what)) {
        auto const* const wait = find_wait(granted->id);
        if (wait == nullptr)
            return world_.fail("witness", "the store granted to a claim that did not wait");
        auto const spec = wait->spec;
        begin(granted->id, spec, granted->held, true);
    } else if (auto const* const gone = std::get_if<seam::claim_gone>(&what)) {
        if (find_wait(gone->id) != nullptr) leave_line(gone->id);
        bool const evicted = gone->why.find("evicted") != std::string::npos;
        end(gone->id, evicted ? store_end::evicted : store_end::expired);
    }
}

void witness::begin(seam::claim_id id, seam::spec_ptr spec, seam::grant const& grant,
                    bool from_line) {
    end(id, store_end::expired);
    if (world_.plan.in_process) recall_for(id, *spec);
    store_hold fresh{.id = id, .spec = spec, .number = grant.number, .granted = grant.began};
    fresh.lease = spec->lease;
    fresh.expires = grant.began + (grant.lease.count() > 0 ? grant.lease : spec->lease);
    world_.note([&] {
        return "store grants '" + spec->name + "' to " + world_.short_name(id) + " as " +
               std::to_string(static_cast<std::uint64_t>(grant.number));
    });
    world_.tell([&](checker& it) { it.granted(fresh, from_line); });
    leave_line(id);
    holds_[id] = fresh;
    world_.tell([&](checker& it) { it.extended(fresh); });
}

// A store of the same process takes back what a client has put aside, and tells nobody. What a user
// has in its hands was not put aside.
void witness::recall_for(seam::claim_id id, seam::claim_spec const& spec) {
    for (auto const* const each : holders(spec.name, world_.store.now())) {
        bool const in_use = std::ranges::any_of(
            world_.holds(), [&](auto const& hold) { return hold->claim == each->id; });
        if (each->id != id && !in_use && each->spec->mode == claim_mode::exclusive &&
            each->spec->order == ordering::barging && !each->spec->joins)
            end(seam::claim_id{each->id}, store_end::recalled);
    }
}

void witness::end(seam::claim_id id, store_end how) {
    auto const found = holds_.find(id);
    if (found == holds_.end()) return;
    auto const was = found->second;
    holds_.erase(found);
    if (was.kept) return;  // its holder ended it before
    constexpr char const* words[] = {"settled", "expired", "evicted", "forgotten", "recalled"};
    world_.note([&] {
        return "store ends " + world_.short_name(id) + " on '" + was.spec->name +
               "': " + words[static_cast<int>(how)];
    });
    ends_[id].push_back(how);
    if (how == store_end::forgotten || how == store_end::evicted) world_.forsake(id);
    world_.tell([&](checker& it) { it.ended(was, how); });
}

void witness::extended(seam::claim_id id, seam::store_time until) {
    if (auto* const wait = find_wait(id)) wait->expires = std::max(wait->expires, until);
    auto const found = holds_.find(id);
    if (found == holds_.end() || found->second.kept) return;
    found->second.expires = std::max(found->second.expires, until);
    world_.tell([&](checker& it) { it.extended(found->second); });
}

void witness::ended_with_session(seam::claim_id id, store_end how,
                                 std::vector<stores::lease::directed_notice> const& notices) {
    // It may have been let in by what time ended, in the moment in which it ended itself.
    auto const is_own = [&](auto const& each) {
        auto const* const granted = std::get_if<seam::claim_granted>(&each.what);
        return granted != nullptr && granted->id == id;
    };
    auto const own = std::ranges::find_if(notices, is_own);
    auto next = notices.begin();
    if (own != notices.end())
        for (; next <= own; ++next)
            on_notice(next->what, world_.store.now());
    leave_line(id);
    auto const found = holds_.find(id);
    if (found != holds_.end() && !found->second.kept) end(id, how);
    for (; next != notices.end(); ++next)
        on_notice(next->what, world_.store.now());
}

void witness::granted(seam::claim_id id, seam::spec_ptr spec, seam::sequence number,
                      seam::store_time until, bool from_line) {
    auto const now = world_.store.now();
    seam::grant const held{.number = number,
                           .began = now,
                           .lease = std::chrono::floor<std::chrono::milliseconds>(until - now)};
    begin(id, std::move(spec), held, from_line);
    extended(id, until);
}

void witness::kept(seam::claim_id id, seam::store_time until) {
    auto const found = holds_.find(id);
    if (found == holds_.end() || found->second.kept) return;
    found->second.kept = true;
    found->second.expires = until;
    auto const copy = found->second;
    ends_[id].push_back(store_end::settled);
    world_.tell([&](checker& it) { it.ended(copy, store_end::settled); });
}

void witness::converted(seam::claim_id id, seam::spec_ptr spec) {
    if (auto const found = holds_.find(id); found != holds_.end())
        found->second.spec = std::move(spec);
}

void witness::queued(std::string const& name, seam::claim_id id, seam::spec_ptr spec,
                     seam::store_time until) {
    if (find_wait(id) == nullptr)
        lines_[name].push_back({id, std::move(spec), until, world_.store.now()});
}

void witness::limited(std::string const& name, std::optional<std::uint32_t> limit) {
    if (limit)
        limits_[name] = *limit;
    else
        limits_.erase(name);
}

void witness::forget_all() {
    while (!holds_.empty()) {
        auto const id = holds_.begin()->first;
        holds_.begin()->second.kept ? void(holds_.erase(id)) : end(id, store_end::forgotten);
    }
    lines_.clear();
    limits_.clear();
}

store_hold const* witness::hold(seam::claim_id id) const {
    auto const found = holds_.find(id);
    return found == holds_.end() ? nullptr : &found->second;
}

std::vector<store_hold const*> witness::holders(std::string const& name,
                                                seam::store_time now) const {
    std::vector<store_hold const*> out;
    for (auto const& [id, it] : holds_)
        if (it.spec->name == name && it.expires > now) out.push_back(&it);
    return out;
}

std::vector<store_wait> const& witness::line(std::string const& name) const {
    static std::vector<store_wait> const nobody;
    auto const found = lines_.find(name);
    return found == lines_.end() ? nobody : found->second;
}

store_wait* witness::find_wait(seam::claim_id id) {
    for (auto& [name, line] : lines_)
        for (auto& queue : line)
            if (queue.id == id) return &queue;
    return nullptr;
}

bool witness::waiting(seam::claim_id id) const {
    return const_cast<witness*>(this)->find_wait(id) != nullptr;
}

void witness::leave_line(seam::claim_id id) {
    for (auto& [name, line] : lines_)
        std::erase_if(line, [&](store_wait const& it) { return it.id == id; });
}

std::uint32_t witness::limit(seam::claim_spec const& spec) const {
    auto const found = limits_.find(spec.name);
    return found == limits_.end() ? spec.limit : found->second;
}

std::vector<store_end> const& witness::ends(seam::claim_id id) const {
    static std::vector<store_end> const none;
    auto const found = ends_.find(id);
    return found == ends_.end() ? none : found->second;
}

}  // namespace holdfast::simulation
