// The layout of many other clients: one string per lock, whose value tells who holds it. Exclusive
// locks only; who waits tries again.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "stores/redis/keys.hpp"
#include "stores/redis/layout.hpp"
#include "stores/redis/replies.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

namespace {

using std::chrono::milliseconds;

// What a value of ours says: <claim id>:<sequence>, with ":kept" behind it under a minimum hold.
claim_info read_holder(std::string_view value, bool ours, std::int64_t time_left) {
    claim_info out;
    out.lease_left = std::clamp(milliseconds{time_left}, milliseconds{0}, longest_span);
    if (!ours) {
        out.owner = "another client";
        return out;
    }
    auto const colon = value.find(':');
    auto const rest = colon == std::string_view::npos ? value : value.substr(colon + 1);
    auto const number = base::parse_number(rest.substr(0, rest.find(':')), largest_number);
    if (!number) throw garbled{"a value of ours makes no sense"};
    out.id = value.substr(0, colon);
    out.owner = out.id.substr(0, out.id.find('-'));
    out.token = *number << 8;
    return out;
}

/// Finds keys, asks for each, and leaves out what is not ours: other strings are no locks.
class plain_listing final : public several {
public:
    /// `slots` are those of a cluster, each of whose masters has some of the names.
    plain_listing(seam::inspect what, slot_map const* slots)
        : what_{std::move(what)}, slots_{slots} {
        // Nobody waits here; a page without names still tells the time.
        if (what_.exact || what_.waited_for) {
            ask_for(what_.prefix);
            return;
        }
        for (auto const lane :
             slots_ != nullptr ? slots_->lanes() : std::vector<seam::lane_id>{seam::lane_id{}})
            scan(lane, "0");
    }

    [[nodiscard]] bool spans_servers() const noexcept override {
        return slots_ != nullptr && !what_.exact;
    }

    void on_answer(std::size_t which, answer const& what) override {
        answer_reader in{what};
        if (which < scans_.size()) {
            on_scanned(scans_[which], in);
        } else {
            on_inspected(which - scans_.size(), in);
        }
    }

    seam::reply finish() override { return {now_, std::move(page_)}; }

private:
    void scan(seam::lane_id lane, std::string_view cursor) {
        command out{"SCAN"};
        out.to.lane = lane;
        out << cursor << "MATCH" << escaped(what_.prefix) + "*"
            << "COUNT" << keys_per_scan << "TYPE"
            << "string";
        outbox.push_back(std::move(out));
        scans_.push_back(lane);
        ++scanning_;
    }

    void ask_for(std::string name) {
        command out{scripts::plain_inspect, 1};
        if (slots_ != nullptr) out.to.slot = slot_of(name);
        out << name;
        outbox.push_back(std::move(out));
        names_.push_back(std::move(name));
    }

    void on_scanned(seam::lane_id lane, answer_reader& in) {
        in.array(2);
        std::string const cursor{in.text()};
        for (auto left = in.array(); left > 0; --left)
            keys_.emplace(in.text());
        --scanning_;
        if (cursor != "0") return scan(lane, cursor);
        if (scanning_ > 0) return;
        for (auto const& key : keys_)
            ask_for(key);
        if (keys_.empty()) ask_for(what_.prefix);  // a page without names still tells the time
    }

    void on_inspected(std::size_t which, answer_reader& in) {
        auto const head = head_of(in);
        if (head.word == "none") return;
        if (head.word != "held") unknown_word(head.word);
        auto const value = in.text();
        auto const left = in.integer();
        bool const ours = in.number(1) == 1;
        bool const named = what_.exact || names_[which] == what_.prefix;
        if (what_.waited_for || (!ours && !named)) return;
        seam::listed info;
        info.name = names_[which];
        info.holders.push_back(read_holder(value, ours, left));
        page_.names.push_back(std::move(info));
    }

    seam::inspect what_;
    slot_map const* slots_;
    std::vector<seam::lane_id> scans_;  ///< where each of the first commands searches
    std::size_t scanning_{0};
    std::set<std::string> keys_;
    std::vector<std::string> names_;  ///< asked for, in order
    seam::page page_;
};

class plain_layout final : public layout {
public:
    plain_layout(std::string prefix, std::shared_ptr<slot_map const> slots)
        : keys_{std::move(prefix)}, mark_{keys_.prefix() + "mark"}, slots_{std::move(slots)} {}

    [[nodiscard]] seam::capabilities abilities() const override { return {.line = false}; }

    [[nodiscard]] slot_number slot_of(std::string_view name) const noexcept override {
        return redis::slot_of(name);
    }

    [[nodiscard]] std::unique_ptr<exchange> begin(seam::request what) const override {
        return std::visit([this](auto& verb) { return apply(std::move(verb)); }, what);
    }

private:
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::hello what) const {
        command out{"TIME"};
        out.to.lane = what.lane;
        return ask(std::move(out), read_server_time);
    }
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::submit what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::settle what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::renew what) const;
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::inspect what) const {
        return std::make_unique<plain_listing>(std::move(what), slots_.get());
    }
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::evict what) const;
    // Nobody tells us of changes; the engine polls.
    [[nodiscard]] std::unique_ptr<exchange> tell_time(seam::cell_key const& of) const {
        command out{"TIME"};
        out.to = route_to(of.name);
        return ask(std::move(out), read_server_time);
    }
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::watch what) const {
        if (what.key.kind == lock_kind::election) return no("elections");
        return tell_time(what.key);
    }
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::unwatch what) const {
        return tell_time(what.key);
    }
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::convert) const { return no("conversion"); }
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::adjust) const { return no("semaphores"); }
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::read what) const {
        return no(what.key.kind == lock_kind::election ? "elections" : "cells");
    }
    [[nodiscard]] std::unique_ptr<exchange> apply(seam::swap) const { return no("cells"); }

    [[nodiscard]] static std::unique_ptr<exchange> no(std::string_view what) {
        return refuse(errc::unsupported,
                      "the layout 'plain' has exclusive locks without an order "
                      "only, no " +
                          std::string{what} + "; leave 'layout' out of the store URL for all else");
    }
    [[nodiscard]] std::unique_ptr<exchange> fault_of(seam::claim_spec const& spec) const;
    [[nodiscard]] std::string tombstone(seam::claim const& of) const {
        return keys_.prefix() + "bar:{" + of.name() + "}:" + seam::to_string(of.id);
    }
    [[nodiscard]] route route_to(std::string_view name) const noexcept {
        return slots_ ? route{.slot = slot_of(name)} : route{};
    }
    /// The beginning of a call for one name: the script and the key that is the name.
    [[nodiscard]] command call(script const& what, unsigned keys, std::string_view name) const {
        command out{what, keys};
        out.to = route_to(name);
        out << name;
        return out;
    }

    key_space keys_;
    std::string mark_;
    std::shared_ptr<slot_map const> slots_;  ///< of a cluster
};

std::unique_ptr<exchange> plain_layout::fault_of(seam::claim_spec const& spec) const {
    if (spec.kind != lock_kind::lock) return no(std::string{to_string(spec.kind)} + "s");
    if (spec.mode != claim_mode::exclusive) return no("shared holds");
    if (spec.joins) return no("holds that several claims share");
    if (spec.order == ordering::fair) return no("fair order");
    if (spec.name.find_first_of("{}") != std::string::npos)
        return refuse(errc::bad_name,
                      "in the layout 'plain' a name is a key as it is, and braces "
                      "in a key mean something to Redis: '" +
                          spec.name + "'");
    if (spec.name == mark_)
        return refuse(errc::bad_name, "'" + spec.name + "' is a key of the store itself");
    return nullptr;
}

std::unique_ptr<exchange> plain_layout::apply(seam::submit what) const {
    auto const& wanted = what.subject;
    if (auto fault = fault_of(*wanted.spec)) return fault;
    if (what.ballot != seam::sequence{})
        return refuse(errc::unsupported,
                      "a server that is used in the layout 'plain' cannot be a member of a quorum");
    constexpr unsigned keys = 3;
    auto out = call(scripts::plain_acquire, keys, wanted.name());
    keys_.append_mark(out, out.to.slot);
    out << tombstone(wanted) << seam::to_string(wanted.id) << wanted.spec->lease.count()
        << what.not_after.time_since_epoch().count();
    out.concerns(wanted.spec->hash);
    out.only_for = what.clock;
    return ask(std::move(out), [spec = wanted.spec](answer_reader& in) -> seam::reply {
        auto const head = read_head(in);
        if (head.word == "granted") return {head.now, seam::granted{read_grant(in)}};
        if (head.word != "refused") unknown_word(head.word);
        return {head.now, read_refused(in, spec.get())};
    });
}

std::unique_ptr<exchange> plain_layout::apply(seam::settle what) const {
    auto const& ended = what.subject;
    if (auto fault = fault_of(*ended.spec)) return fault;
    auto out = call(scripts::plain_release, 2, ended.name());
    out << tombstone(ended) << seam::to_string(ended.id) << what.keep_for.count()
        << std::max<std::int64_t>(0, what.tombstone_until.time_since_epoch().count());
    out.concerns(ended.spec->hash);
    out.only_for = what.clock;
    return ask(std::move(out), read_settled);
}

std::unique_ptr<exchange> plain_layout::apply(seam::renew what) const {
    std::vector<renew_exchange::group> groups;
    for (std::size_t i = 0; i < what.items.size(); ++i)
        groups.push_back({i});
    auto const count = what.items.size();
    return std::make_unique<renew_exchange>(
        count, std::move(groups),
        [this, items = std::move(what.items)](renew_exchange::group const& place) {
            auto const& item = items[place.front()];
            auto out = call(scripts::plain_renew, 1, item.subject.name());
            out << seam::claim_words{item.subject.id} << item.lease.count();
            return out;
        });
}

std::unique_ptr<exchange> plain_layout::apply(seam::evict what) const {
    auto out = std::make_unique<evict_exchange>();
    auto one = call(scripts::plain_evict, 1, what.name);
    one << (what.only ? seam::to_string(*what.only) : std::string{}) << (what.force ? 1 : 0);
    out->outbox.push_back(std::move(one));
    return out;
}

}  // namespace

std::unique_ptr<layout> make_plain_layout(settings const& wanted, seam::identity const&,
                                          std::shared_ptr<slot_map const> slots) {
    return std::make_unique<plain_layout>(wanted.prefix, std::move(slots));
}

}  // namespace holdfast::stores::redis
