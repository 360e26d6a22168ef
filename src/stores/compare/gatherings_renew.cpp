// The part of the gatherings that is about renewals.
#include <algorithm>
#include <set>
#include <utility>

#include "stores/compare/gatherings.hpp"

namespace holdfast::stores::compare {

namespace {

// So many claims are looked for in one trip.
constexpr std::size_t claims_per_look = 64;

}  // namespace

struct gatherings::renewal_run {
    std::vector<seam::renew::item> items;
    seam::renewed out;
    std::vector<std::size_t> looks{};  ///< the items that must be looked at
    std::size_t open{0};
    continuation done;
};

void gatherings::renew(seam::renew const& what, continuation done) {
    auto const run = std::make_shared<renewal_run>();
    run->items = what.items;
    run->out.items.resize(what.items.size());
    run->done = std::move(done);
    std::set<session_id> sessions;
    for (auto const& item : run->items)
        if (auto const* const claim = client_.claims.find(item.subject.id)) {
            sessions.insert(claim->session);
            if (claim->moving_to != session_id{}) sessions.insert(claim->moving_to);
        }
    // Even when nothing is left to renew: the answer tells a time, which must be read now.
    if (sessions.empty())
        return fetch({}, [run](std::vector<view>* seen, base::error const& why) {
            run->done(seen == nullptr ? seam::reply_body{seam::failure{why}} : std::move(run->out));
        });
    auto const shortest = std::ranges::min(run->items, {}, &seam::renew::item::lease).lease;
    client_.sessions.confirm({sessions.begin(), sessions.end()}, shortest,
                             [this, run](std::vector<kept> const* found, base::error const& why) {
                                 if (found == nullptr) return run->done(seam::failure{why});
                                 on_kept(run, *found);
                             });
}

void gatherings::on_kept(renewal const& run, std::vector<kept> const& found) {
    for (std::size_t i = 0; i < run->items.size(); ++i) {
        auto const id = run->items[i].subject.id;
        auto& out = run->out.items[i];
        auto* const claim = client_.claims.find(id);
        if (claim == nullptr) continue;  // gone, with its session
        auto const session = std::ranges::find(found, claim->session, &kept::id);
        if (session == found.end() || session->found == kept::state::unknown) {
            out.found = seam::renewal::status::unknown;
        } else if (claim->held && claim->stretch == client_.stretch && client_.traits.pushes &&
                   !client_.outgrows_session(run->items[i])) {
            out.found = seam::renewal::status::alive;
            client_.fill_in(id, out.held);
            out.held.number = claim->number;
            out.held.contended = claim->contended;
        } else {
            run->looks.push_back(i);
        }
    }
    look(run);
}

// One question for each name and session, however many of its claims are meant; a claim that goes over to another session has a
// step of its own.
void gatherings::look(renewal const& run) {
    std::map<std::pair<name_key, session_id>, std::vector<std::size_t>> by_name;
    std::vector<look_group> groups;
    for (auto const item : run->looks) {
        auto const& subject = run->items[item].subject;
        name_key key{subject.name(), subject.spec->kind == lock_kind::condition};
        if (client_.outgrows_session(run->items[item]))
            groups.push_back({std::move(key), {item}});
        else
            by_name[{std::move(key), client_.claims.find(subject.id)->session}].push_back(item);
    }
    for (auto const& [where, items] : by_name)
        for (std::size_t first = 0; first < items.size(); first += claims_per_look) {
            auto const last = std::min(items.size(), first + claims_per_look);
            groups.push_back({where.first,
                              {items.begin() + static_cast<std::ptrdiff_t>(first),
                               items.begin() + static_cast<std::ptrdiff_t>(last)}});
        }
    run->open = 1;
    std::vector<look_group> trip;
    std::size_t claims = 0;
    for (auto& each : groups) {
        claims += each.items.size();
        trip.push_back(std::move(each));
        if (claims >= claims_per_look) look_at(run, std::exchange(trip, {}));
        if (trip.empty()) claims = 0;
    }
    if (!trip.empty()) look_at(run, std::move(trip));
    finish_one(run);
}

void gatherings::look_at(renewal const& run, std::vector<look_group> groups) {
    std::vector<name_query> names;
    for (auto const& each : groups) {
        auto& query = names.emplace_back(name_query{.key = each.key});
        for (auto const item : each.items)
            query.claims.push_back(run->items[item].subject.id);
    }
    ++run->open;
    auto const stretch = client_.stretch;
    fetch(std::move(names), [this, run, stretch, groups = std::move(groups)](
                                std::vector<view>* seen, base::error const&) {
        for (std::size_t i = 0; i < groups.size(); ++i)
            if (seen != nullptr && i < seen->size())
                judge(run, groups[i].items, std::move((*seen)[i]), stretch);
            else
                for (auto const item : groups[i].items)
                    run->out.items[item].found = seam::renewal::status::unknown;
        finish_one(run);
    });
}

void gatherings::judge(renewal const& run, std::vector<std::size_t> const& items, view seen,
                       std::uint64_t stretch) {
    work_.observe(seen, stretch);
    auto op = std::make_shared<name_operation>();
    seam::renew what;
    for (auto const item : items) {
        what.items.push_back(run->items[item]);
        op->looked_for.push_back(run->items[item].subject.id);
    }
    op->key = seen.key;
    op->asked.claims = op->looked_for;
    op->what = std::move(what);
    op->seen = std::move(seen);
    op->stretch = stretch;
    ++run->open;
    op->done = [this, run, items](seam::reply_body body) {
        auto const* const renewed = std::get_if<seam::renewed>(&body);
        for (std::size_t i = 0; i < items.size(); ++i)
            if (renewed != nullptr && i < renewed->items.size())
                run->out.items[items[i]] = renewed->items[i];
            else
                run->out.items[items[i]].found = seam::renewal::status::unknown;
        finish_one(run);
    };
    work_.renew(std::move(op));
}

void gatherings::finish_one(renewal const& run) {
    if (--run->open == 0) run->done(std::move(run->out));
}

}  // namespace holdfast::stores::compare
