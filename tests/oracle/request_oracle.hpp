// Random requests to a store, one by one, each compared with the rules of the memory store at the reply's time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "oracle/ballot_draw.hpp"
#include "oracle/comparison.hpp"
#include "oracle/oracle_client.hpp"
#include "oracle/row.hpp"
#include "stores/lease/rules.hpp"
#include "stores/memory/memory_ledger.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"

namespace holdfast::oracle {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

inline std::uint64_t seed_of_run() {
    auto const* const given = std::getenv("HOLDFAST_SEED");
    auto const out = given != nullptr ? std::stoull(given) : base::entropy() % 1'000'000;
    std::cout << "seed: HOLDFAST_SEED=" << out << std::endl;
    return out;
}

class request_oracle : public testing::TestWithParam<row> {
protected:
    static constexpr int clients = 3;
    static constexpr std::uint64_t nobodys_version = 1ULL << 52;

    request_oracle() : random_{seed_} {
        for (int i = 0; i < clients; ++i)
            all_.push_back(std::make_unique<oracle_client>(GetParam().make, store_.url));
        // Messages are heard from the first watch on; what is told before is nobody's.
        for (auto& each : all_) {
            clock_ =
                each->send(seam::watch{{lock_kind::lock, "nobody's", seam::holders_part}}).clock;
            each->send(seam::unwatch{{lock_kind::lock, "nobody's", seam::holders_part}});
            (void)each->take_notices();
        }
    }

    template <class T>
    T pick(std::vector<T> const& from) {
        return from[random_.below(from.size())];
    }
    bool one_in(std::uint64_t many) { return random_.one_in(many); }

    seam::spec_ptr draw_spec() {
        seam::claim_spec out;
        out.kind = pick<lock_kind>({lock_kind::lock, lock_kind::lock, lock_kind::lock,
                                    lock_kind::semaphore, lock_kind::condition, lock_kind::barrier,
                                    lock_kind::election});
        // Now and then a name is asked for as another kind.
        out.name = one_in(12) ? "x" : pick<std::string>({"a", "b"}) + to_string(out.kind);
        out.order = one_in(2) ? ordering::fair : ordering::barging;
        out.lease = GetParam().sessions
                        ? pick<milliseconds>({3'600'000ms, 5'400'000ms})
                        : pick<milliseconds>({3ms, 20ms, 60'000ms, 60'000ms, 60'000ms});
        if (out.kind == lock_kind::semaphore || out.kind == lock_kind::condition) {
            out.mode = claim_mode::permits;
            out.order = out.kind == lock_kind::condition ? ordering::fair : out.order;
            out.permits = out.kind == lock_kind::condition ? 1 : pick<std::uint32_t>({1, 1, 2});
            out.limit = out.kind == lock_kind::condition ? 0 : pick<std::uint32_t>({3, 3, 3, 4});
        } else if (out.kind != lock_kind::election && one_in(3)) {
            out.mode = claim_mode::shared;
        }
        if (out.kind == lock_kind::lock && out.mode == claim_mode::exclusive && one_in(4)) {
            out.owner = pick<std::string>({"m", "n"});
            out.joins = one_in(2);
        }
        if (out.kind == lock_kind::election) out.value = "leader";
        out.hash = std::hash<std::string>{}(out.name);
        return std::make_shared<seam::claim_spec const>(std::move(out));
    }

    // Mostly one that was used before, so that something comes of it.
    std::size_t draw_claim() {
        if (claims_.size() < 4 || one_in(3)) {
            auto const owner = random_.below(clients);
            claims_.push_back({draw_spec(), {all_[owner]->self()->id, ++last_claim_}, {}});
            owners_.push_back(owner);
            return claims_.size() - 1;
        }
        auto const recent = std::min<std::size_t>(claims_.size(), 12);
        return claims_.size() - 1 - random_.below(recent);
    }

    seam::cell_key draw_key() {
        auto const kind = pick<lock_kind>({lock_kind::latch, lock_kind::barrier, lock_kind::lock});
        auto const part = pick<std::string>({"", "", "part", seam::holders_part});
        return {kind, pick<std::string>({"a", "b"}) + to_string(kind), part};
    }

    seam::request draw_request(seam::claim const& claim) {
        switch (random_.below(18)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
        case 5: return draw_submit(claim);
        case 6:
        case 7:
        case 8:
        case 9:
            return seam::settle{
                .subject = claim,
                .keep_for = one_in(8) ? draw_span() : 0ms,
                .tombstone_until = one_in(6) ? seen_ + tombstone_span() : seam::store_time{},
                .consume = claim.spec->mode == claim_mode::permits && one_in(4)};
        case 10:
        case 11: return seam::renew{.items = {{claim, pick<milliseconds>({3ms, 60'000ms})}}};
        case 12: return draw_change(claim);
        case 13: return seam::read{draw_cell()};
        case 14: return draw_swap(claim);
        case 15: {
            auto const key = draw_key();
            return one_in(3) ? seam::request{seam::unwatch{key}} : seam::request{seam::watch{key}};
        }
        case 16: return inspect_of(claim);
        default: {
            // Two scripts, with a moment between them, where a condition may have the name.
            if (claim.spec->kind == lock_kind::condition || claim.name() == "x")
                return seam::hello{};
            seam::evict out{.name = claim.name()};
            if (!one_in(3)) out.only = claim.id;
            return out;
        }
        }
    }

    seam::request draw_submit(seam::claim const& claim) {
        seam::submit out{.subject = claim,
                         .queue = !one_in(3),
                         .not_after = one_in(15) ? seen_ - 1s : seam::store_time::max(),
                         .clock = clock_};
        if (!GetParam().ballots || !one_in(3)) return out;
        out.ballot = ballots_.next(claim.name(), random_);
        out.repairs = one_in(6);
        return out;
    }

    milliseconds draw_span() {
        return GetParam().sessions ? 3'600'000ms : pick<milliseconds>({1ms, 10ms});
    }

    static milliseconds tombstone_span() { return GetParam().sessions ? 3'600'000ms : 20ms; }

    static seam::request inspect_of(seam::claim const& claim) {
        // As above.
        if (claim.spec->kind == lock_kind::condition || claim.name() == "x") return seam::hello{};
        return seam::inspect{.prefix = claim.name(), .exact = true};
    }

    seam::cell_key draw_cell() {
        auto out = draw_key();
        if (out.part == seam::holders_part) out.part.clear();
        if (out.kind == lock_kind::lock) out.kind = lock_kind::latch;
        out.name = pick<std::string>({"a", "b"}) + to_string(out.kind);
        return out;
    }

    seam::request draw_change(seam::claim const& claim) {
        if (claim.spec->mode == claim_mode::permits) {
            if (claim.spec->kind == lock_kind::condition)
                return seam::adjust{.subject = claim, .wake = pick<std::uint32_t>({1, 2})};
            if (one_in(2)) {
                seam::adjust out{.subject = claim};
                if (one_in(2)) out.current = pick<std::uint32_t>({2, 4});
                return out;
            }
            return seam::convert{claim, claim_mode::permits, 1};
        }
        return seam::convert{claim, one_in(4) ? claim_mode::exclusive : claim_mode::shared, 1};
    }

    seam::request draw_swap(seam::claim const& claim) {
        seam::swap out{.key = draw_cell(), .value = std::to_string(random_.below(100))};
        out.expected = one_in(4) ? nobodys_version : versions_[out.key].first;
        out.ttl = GetParam().sessions ? 3'600'000ms : one_in(4) ? 5ms : 60'000ms;
        out.operation = {all_[0]->self()->id, (1ULL << 40) + (one_in(10) ? 1 : ++last_claim_)};
        out.remove = one_in(6);
        out.quiet = one_in(5);
        if (claim.spec->kind == lock_kind::barrier && one_in(2)) {
            out.key = {lock_kind::barrier, claim.name(), {}};
            out.expected = versions_[out.key].first;
            out.guard = claim;
        }
        return out;
    }

    // The same request, with the versions that the rules know.
    seam::request for_rules(seam::request what) {
        if (auto* const swap = std::get_if<seam::swap>(&what))
            if (swap->expected == versions_[swap->key].first)
                swap->expected = versions_[swap->key].second;
        return what;
    }

    void learn_version(seam::request const& asked, seam::reply_body const& ours,
                       seam::reply_body const& rules) {
        auto const* const swap = std::get_if<seam::swap>(&asked);
        auto const* const read = std::get_if<seam::read>(&asked);
        if (swap == nullptr && read == nullptr) return;
        auto const version = [](seam::reply_body const& body) -> std::uint64_t {
            if (auto const* const done = std::get_if<seam::swapped>(&body)) return done->version;
            if (auto const* const cell = std::get_if<seam::cell>(&body)) return cell->version;
            if (auto const* const no = std::get_if<seam::conflict>(&body))
                return no->current.version;
            return 0;
        };
        auto const& key = swap != nullptr ? swap->key : read->key;
        versions_[key] = {version(ours), version(rules)};
        if (swap != nullptr && swap->remove && std::holds_alternative<seam::swapped>(ours))
            versions_[key] = {0, 0};
    }

    void step() {
        auto const which = draw_claim();
        auto const request = draw_request(claims_[which]);
        auto const who = owners_[which];
        auto const reply = all_[who]->send(request);
        auto const what = "step " + std::to_string(steps_++) + " of seed " + std::to_string(seed_) +
                          ": client " + std::to_string(who) + ", " + describe(request);
        seen_ = reply.now;
        clock_ = reply.clock;
        std::vector<stores::lease::directed_notice> told;
        stores::lease::rules rules{ledger_, reply.now, all_[who]->self(), told};
        auto const expected = rules.handle(for_rules(request));
        bool const timed = !GetParam().sessions;
        ASSERT_EQ(describe(reply.body, names_, timed), describe(expected, rules_names_, timed))
            << what;
        learn_version(request, reply.body, expected);
        if (auto const* const wanted = std::get_if<seam::submit>(&request))
            ballots_.note(*wanted, reply.body);
        if (!GetParam().tells_at_once) return;
        auto const wanted = lines_of(those_of_clients(told), rules_names_);
        compare_notices(wanted, wanted.size(), what);
    }

    // In any order. One watcher is told once of one thing, however often it changed in one request. Of
    // several holders that end at the same moment, any may be told that somebody waits.
    void compare_notices(std::set<std::string> const& wanted, std::size_t messages,
                         std::string const& what) {
        std::vector<told_notice> heard;
        bool const all_told = support::eventually([&] {
            for (std::size_t i = 0; i < all_.size(); ++i)
                for (auto const& notice : all_[i]->take_notices())
                    heard.push_back({i, notice});
            return heard.size() >= messages;
        });
        EXPECT_TRUE(all_told) << what;
        ASSERT_EQ(lines_of(heard, names_), wanted) << what;
    }

    // What Redis must keep besides: every key but the mark ends by itself, and whoever waits and has an owner is
    // found by those who look for deadlocks.
    void check_keys() {
        auto& server = *static_cast<support::redis_server*>(store_.server.get());
        std::istringstream keys{server.ask({"KEYS", "*"})};
        for (std::string key; std::getline(keys, key);)
            ASSERT_TRUE(key == "holdfast:mark" || key == "holdfast:ballots" ||
                        server.ask({"PTTL", key}) != "-1")
                << key;
        auto const index = server.ask({"ZRANGE", "holdfast:waited", "0", "-1"}) + "\n";
        for (auto const& name : ledger_.waited_names({}, SIZE_MAX)) {
            auto* const record = ledger_.find(name, std::hash<std::string>{}(name), false);
            if (record == nullptr) continue;
            bool owned = false;
            ledger_.each_waiter(*record, [&](stores::lease::entry const& each) {
                owned = owned || (!each.subject.spec->owner.empty() && each.expires > seen_ + 1s);
            });
            ASSERT_TRUE(!owned || index.find("holdfast:name:{" + name + "}\n") != index.npos)
                << name;
        }
    }

    struct told_notice {
        std::size_t client;
        seam::notice what;
    };

    [[nodiscard]] std::vector<told_notice> those_of_clients(
        std::vector<stores::lease::directed_notice> const& told) const {
        std::vector<told_notice> out;
        for (auto const& [to, notice] : told)
            for (std::size_t i = 0; i < all_.size(); ++i)
                if (to == all_[i]->self()->id) out.push_back({i, notice});
        return out;
    }

    // Grants by their sequences first, so that these are named in the order in which they were drawn. Claims of one owner
    // share a sequence, and are told in any order.
    static std::set<std::string> lines_of(std::vector<told_notice> all, sequence_names& names) {
        std::ranges::stable_sort(all, {}, [](told_notice const& each) {
            auto const* const granted = std::get_if<seam::claim_granted>(&each.what);
            return granted == nullptr ? std::pair<seam::sequence, seam::claim_id>{}
                                      : std::pair{granted->held.number, granted->id};
        });
        std::set<std::string> out;
        for (auto const& [client, notice] : all)
            out.insert(std::holds_alternative<seam::name_contended>(notice)
                           ? std::string{"contended"}
                           : "client " + std::to_string(client) + ": " + describe(notice, names));
        return out;
    }

    running_store const store_{GetParam().run()};
    std::vector<std::unique_ptr<oracle_client>> all_;
    stores::memory::memory_ledger ledger_{1};
    sequence_names names_;
    sequence_names rules_names_;
    std::uint64_t const seed_{seed_of_run()};
    base::random random_;
    std::vector<seam::claim> claims_;
    std::vector<std::size_t> owners_;
    std::map<seam::cell_key, std::pair<std::uint64_t, std::uint64_t>> versions_;
    std::uint64_t last_claim_{0};
    ballot_draw ballots_{!GetParam().sessions};
    seam::store_time seen_{};
    seam::clock_id clock_{};  ///< of the one server there is
    int steps_{0};
};

}  // namespace holdfast::oracle
