#include "stores/redis/servers.hpp"

#include <algorithm>
#include <utility>

#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

namespace {

using std::chrono::milliseconds;

// Behind those of discovery, two for each lane.
constexpr discovery::tags of_discovery{servers::own_tag + 1, servers::own_tag + 2};
constexpr net::poller::tag first_of_nodes = of_discovery.news + 1;

constexpr int most_redirections = 16;
constexpr milliseconds shortest_wait{4};
constexpr int most_doublings = 5;

server_address address_of(settings const& target) {
    return {target.server.host, target.server.port};
}

}  // namespace

servers::servers(std::shared_ptr<settings const> of, std::string name, owner& to,
                 net::poller& events, std::shared_ptr<slot_map> slots)
    : of_{std::move(of)},
      name_{std::move(name)},
      owner_{to},
      events_{events},
      slots_{std::move(slots)},
      random_{base::entropy()} {
    if (of_->kind == deployment::one_server) {
        known_ = true;
        places_.resize(1);
        occupy(0, address_of(*of_));
    } else {
        discovery::listener& heard_by = *this;
        discovery_.emplace(of_, name_, heard_by, events_, of_discovery);
    }
}

// --- which server ----------------------------------------------------------------------------------

node* servers::find(route const& what) const noexcept {
    auto lane = what.lane.value_or(seam::lane_id{});
    if (of_->kind == deployment::cluster && what.slot) {
        auto const serving = slots_->lane_of(*what.slot);
        if (!serving) return nullptr;
        lane = *serving;
    }
    auto const which = static_cast<std::size_t>(lane);
    return which < places_.size() ? places_[which].server.get() : nullptr;
}

node* servers::find(seam::clock_id clock) const noexcept {
    if (clock == seam::clock_id{}) return nullptr;
    for (auto const& each : places_)
        if (each.server != nullptr && each.server->commands.clock() == clock)
            return each.server.get();
    return nullptr;
}

bool servers::are_down() const noexcept {
    return std::ranges::any_of(
        places_, [](place const& each) { return each.server != nullptr && each.server->down; });
}

std::size_t servers::place_of(server_address const& where) const noexcept {
    auto const found = std::ranges::find_if(places_, [&](place const& each) {
        return each.server != nullptr && address_of(each.server->target()) == where;
    });
    return static_cast<std::size_t>(found - places_.begin());
}

bool servers::has(settings const& target) const noexcept {
    auto const found = place_of(address_of(target));
    return found < places_.size() && (places_[found].serves || !discovery_);
}

std::shared_ptr<settings const> servers::any(settings const& but) {
    std::vector<node const*> all;
    for (auto const& each : places_)
        if (each.server != nullptr && (each.serves || !discovery_))
            all.push_back(each.server.get());
    if (all.empty()) return nullptr;
    if (all.size() > 1)
        std::erase_if(
            all, [&](node const* one) { return address_of(one->target()) == address_of(but); });
    return std::make_shared<settings const>(all[random_.below(all.size())]->target());
}

void servers::occupy(std::size_t lane, server_address const& where) {
    auto const target = of_->kind == deployment::one_server
                            ? of_
                            : std::make_shared<settings const>(of_->at(where.host, where.port));
    auto const id = static_cast<seam::lane_id>(lane);
    auto const first = first_of_nodes + 2 * lane;
    node::owner& heard_by = *this;
    places_[lane].server = std::make_unique<node>(
        target, id, name_, heard_by, [this, id] { return replicated_key(id); }, events_,
        node::tags{first, first + 1});
}

node& servers::at(server_address const& where) {
    auto lane = place_of(where);
    if (lane < places_.size()) return *places_[lane].server;
    lane = static_cast<std::size_t>(
        std::ranges::find_if(places_, [](place const& each) { return each.server == nullptr; }) -
        places_.begin());
    if (lane == places_.size()) places_.emplace_back();
    occupy(lane, where);
    return *places_[lane].server;
}

// One key of those that live in a slot of the server.
std::string servers::replicated_key(seam::lane_id lane) {
    auto const key = of_->prefix + "replicated";
    if (of_->kind != deployment::cluster) return key;
    auto const slot = slots_->slot_served_by(lane, random_.next());
    return key + ":{" + std::string{slot_tag{slot.value_or(0)}} + "}";
}

// --- sending ---------------------------------------------------------------------------------------

void servers::send(question what, base::instant now) {
    now_ = now;
    if (what.turn == 0) what.turn = ++last_turn_;
    if (postponed_.keep_behind(what)) return;
    if (auto* const to = find(what.what.to)) return to->commands.send(std::move(what), now);
    // A lane that nobody stands behind any more; whoever asked finds another.
    if (!what.what.to.slot) what.travels_until = now;
    if (discovery_) discovery_->hurry(now);
    postpone(std::move(what), "CLUSTERDOWN nobody is known to serve this slot");
}

void servers::postpone(question what, std::string words) {
    auto const doublings = std::min(what.postponements++, most_doublings);
    auto const longest = std::chrono::microseconds{shortest_wait} * (1 << doublings);
    auto const pause =
        longest / 2 +
        std::chrono::microseconds{random_.below(static_cast<std::uint64_t>(longest.count()) / 2)};
    postponed_.add(std::move(what), now_ + pause, std::move(words));
}

void servers::send_postponed() {
    postponed_.take_due(now_, [this](postponed_requests::request each) {
        auto& what = each.what;
        if (now_ >= what.travels_until) {
            auto const* const to = find(what.what.to);
            return what.from->on_failure(what.which,
                                         explain(each.words, to != nullptr ? to->target() : *of_));
        }
        what.give_up = now_ + of_->timeout;
        send(std::move(what), now_);
    });
}

bool servers::takes_over(node& from, question& what, std::string_view words) {
    if (!discovery_) return false;
    for (auto const* const word : {"READONLY", "MASTERDOWN", "CLUSTERDOWN"})
        if (words.starts_with(word)) discovery_->hurry(now_);
    if (of_->kind != deployment::cluster) return false;
    // The slot is on its way and will be served at one end of it, soon: nobody need be asked where.
    if (words.starts_with("TRYAGAIN")) {
        what.asking = false;
        postpone(std::move(what), std::string{words});
        return true;
    }
    auto const where = read_redirection(words, address_of(from.target()));
    if (!where) return false;
    redirect(std::move(what), *where);
    return true;
}

void servers::redirect(question what, redirection const& where) {
    what.limit_travel();
    if (++what.redirections > most_redirections || now_ >= what.travels_until)
        return what.from->on_failure(
            what.which, unreachable("its nodes send requests from one to the other", *of_));
    auto& to = at(where.to);
    what.asking = where.once;
    if (!where.once) {
        slots_->assign(where.slot, to.lane());
        places_[static_cast<std::size_t>(to.lane())].serves = true;
        discovery_->hurry(now_);
    }
    if (postponed_.keep_behind(what)) return;
    what.give_up = now_ + of_->timeout;
    // Not written here: answers may be read from the same connection at this moment. Whoever reads them tends all.
    to.commands.send(std::move(what), now_);
}

// --- driving ---------------------------------------------------------------------------------------

void servers::take(net::poller::tag ready, base::instant now) {
    now_ = now;
    if (ready < first_of_nodes) {
        if (discovery_) discovery_->take(ready, now);
        return;
    }
    auto const lane = (ready - first_of_nodes) / 2;
    if (lane < places_.size() && places_[lane].server != nullptr)
        places_[lane].server->take(ready, now);
}

bool servers::has_more() const noexcept {
    return (discovery_ && discovery_->has_more()) ||
           std::ranges::any_of(places_, [](place const& each) {
               return each.server != nullptr && each.server->has_more();
           });
}

void servers::take_rest(base::instant now) {
    now_ = now;
    for (std::size_t lane = 0; lane < places_.size(); ++lane)
        if (auto* const each = places_[lane].server.get(); each != nullptr && each->has_more())
            for (auto const tag : {first_of_nodes + 2 * lane, first_of_nodes + 2 * lane + 1})
                each->take(tag, now);
    if (discovery_ && discovery_->has_more())
        for (auto const tag : {of_discovery.questions, of_discovery.news})
            discovery_->take(tag, now);
}

void servers::tend(base::instant now) {
    now_ = now;
    send_postponed();
    for (std::size_t lane = 0; lane < places_.size(); ++lane)
        if (auto* const each = places_[lane].server.get()) each->tend(now);
    if (discovery_) discovery_->tend(now, troubled_from() <= now);
}

base::instant servers::troubled_from() const noexcept {
    auto out = known_ ? base::never : base::instant::min();
    for (auto const& each : places_)
        if (each.server != nullptr && each.serves)
            out = std::min(out, each.server->commands.troubled_from());
    return out;
}

base::instant servers::next_due() const noexcept {
    auto due = base::never;
    for (auto const& each : places_)
        if (each.server != nullptr) due = std::min(due, each.server->next_due());
    due = std::min(due, postponed_.next_due());
    if (!discovery_) return due;
    auto const troubled = troubled_from();
    if (troubled > now_) due = std::min(due, troubled);
    return std::min(due, discovery_->next_due(troubled <= now_));
}

void servers::flush(base::instant now, bool may_gather) {
    for (auto const& each : places_)
        if (each.server != nullptr) each.server->commands.flush(now, may_gather);
}

void servers::cut(base::error const& why, base::instant now) {
    postponed_.clear();
    for (auto const& each : places_)
        if (each.server != nullptr) each.server->cut(why, now);
    if (discovery_) discovery_->cut(why, now);
}

void servers::abandon() noexcept {
    for (auto const& each : places_)
        if (each.server != nullptr) each.server->abandon();
    if (discovery_) discovery_->abandon();
}

}  // namespace holdfast::stores::redis
