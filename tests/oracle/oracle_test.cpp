// Stores beside the rules: every row, with requests one by one and, where they gather, many at once.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "compare/memory_driver.hpp"
#include "oracle/request_oracle.hpp"
#include "stores/compare/store.hpp"
#include "support/counts.hpp"
#include "support/temporary_directory.hpp"

extern "C" holdfast::seam::store_module const* holdfast_store_file_v1();
extern "C" holdfast::seam::store_module const* holdfast_store_redis_v1();

namespace holdfast::oracle {
namespace {

// The family of stores that compare, over the reference of its drivers.
template <bool Clock>
std::unique_ptr<seam::store> make_comparing(seam::store_context context) {
    using driver_tests::server_make;
    static driver_tests::memory_server server{
        Clock ? server_make::with_clock : server_make::without_clock, base::entropy()};
    return stores::compare::make_store(
        std::move(context), [](stores::compare::driver_events& events) {
            return std::make_unique<driver_tests::memory_driver>(server, events);
        });
}

/// The same for requests that are sent together.
class oracle : public request_oracle {
protected:
    // Requests of one client at once, most of them submits and settlements, compared in the order of their times.
    void step_together() {
        auto const who = random_.below(clients);
        std::vector<seam::request> all;
        for (auto left = 10 + random_.below(40); left > 0; --left)
            all.push_back(draw_one_of_many(who));
        auto const replies = all_[who]->send_together(all);
        ASSERT_NO_FATAL_FAILURE(check_order(all, replies));
        std::vector<std::size_t> order(all.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return replies[i].now; });
        auto const where = "step " + std::to_string(steps_++) + " of seed " +
                           std::to_string(seed_) + ", together: ";
        std::vector<std::vector<stores::lease::directed_notice>> told(all.size());
        for (auto const i : order) {
            seen_ = replies[i].now;
            stores::lease::rules rules{ledger_, seen_, all_[who]->self(), told[i]};
            auto const expected = rules.handle(all[i]);
            ASSERT_EQ(describe(replies[i].body, names_, true),
                      describe(expected, rules_names_, true))
                << where << describe(all[i]);
        }
        std::set<std::string> wanted;
        std::size_t messages = 0;
        for (auto const i : order) {
            auto lines = lines_of(those_of_clients(told[i]), rules_names_);
            messages += lines.size();
            wanted.merge(lines);
        }
        compare_notices(wanted, messages, where);
    }

    static std::string name_of(seam::request const& what) {
        if (auto const* const wanted = std::get_if<seam::submit>(&what))
            return wanted->subject.name();
        if (auto const* const ended = std::get_if<seam::settle>(&what))
            return ended->subject.name();
        if (auto const* const limits = std::get_if<seam::adjust>(&what))
            return limits->subject.name();
        if (auto const* const look = std::get_if<seam::inspect>(&what)) return look->prefix;
        return {};
    }

    // Those of one name have taken effect in the order in which they were sent. What has ended nothing has had no effect,
    // and may have been asked for a second time.
    void check_order(std::vector<seam::request> const& all,
                     std::vector<seam::reply> const& replies) {
        std::map<std::string, std::size_t> last;
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto const name = name_of(all[i]);
            if (name.empty()) continue;
            auto const found = last.find(name);
            ASSERT_TRUE(found == last.end() || replies[found->second].now <= replies[i].now)
                << "seed " << seed_ << ": " << describe(all[i]) << " overtook "
                << describe(all[found->second]);
            auto const* const ended = std::get_if<seam::settled>(&replies[i].body);
            if (ended == nullptr || ended->how != seam::ending::gone) last[name] = i;
        }
    }

    // Nothing ends by time on names of their own: a server forgets what ended long ago without a word.
    seam::request draw_one_of_many(std::size_t who) {
        auto& held = held_together_[who];
        if (!held.empty() && one_in(6)) {  // what does not gather
            auto const& claim = claims_[held[random_.below(held.size())]];
            if (claim.spec->kind == lock_kind::semaphore && one_in(2))
                return seam::adjust{.subject = claim};
            return inspect_of(claim);
        }
        if (!held.empty() && one_in(2)) {
            auto const place = random_.below(held.size());
            seam::settle out{.subject = claims_[held[place]]};
            if (one_in(10)) out.keep_for = draw_span();
            if (!one_in(10)) held.erase(held.begin() + static_cast<std::ptrdiff_t>(place));
            return out;
        }
        auto spec = *draw_spec();
        if (!one_in(4)) {
            spec.name = to_string(spec.kind) + std::to_string(random_.below(50));
            spec.lease = 3'600'000ms;
        }
        spec.hash = std::hash<std::string>{}(spec.name);
        claims_.push_back({std::make_shared<seam::claim_spec const>(std::move(spec)),
                           {all_[who]->self()->id, ++last_claim_},
                           {}});
        owners_.push_back(who);
        held.push_back(claims_.size() - 1);
        return seam::submit{.subject = claims_.back(),
                            .queue = one_in(2),
                            .not_after = one_in(15) ? seen_ - 1s : seam::store_time::max(),
                            .clock = clock_};
    }

    void check_gathered() {
        auto& server = *static_cast<support::redis_server*>(store_.server.get());
        EXPECT_NE(server.ask({"INFO", "commandstats"}).find("cmdstat_mget:"), std::string::npos);
    }

private:
    std::map<std::size_t, std::vector<std::size_t>> held_together_;  ///< claims, by their client
};

TEST_P(oracle, agrees_with_the_rules) {
    auto const steps = support::large_count(GetParam().requests);
    for (int i = 0; i < steps && !HasFatalFailure(); ++i) {
        step();
        if (GetParam().gathers && i % 40 == 0 && !HasFatalFailure()) step_together();
        if (GetParam().name == "redis" && i % 100 == 0 && !HasFatalFailure()) check_keys();
    }
    if (GetParam().gathers && !HasFailure()) check_gathered();
}

running_store run_file() {
    auto place = std::make_shared<support::temporary_directory>();
    return {"file:" + (place->path() / "locks.db").string(), place};
}

running_store run_redis() {
    auto server = std::make_shared<support::redis_server>();
    return {server->url(), server};
}

running_store run_nothing() { return {"compare:"}; }

std::vector<row> all_rows() {
    std::vector<row> out{{.name = "file",
                          .make = make_by<&holdfast_store_file_v1>,
                          .run = run_file,
                          .ballots = true},
                         {.name = "redis",
                          .make = make_by<&holdfast_store_redis_v1>,
                          .run = run_redis,
                          .tells_at_once = true,
                          .gathers = true,
                          .ballots = true},
                         {.name = "compare_with_clock",
                          .make = make_comparing<true>,
                          .run = run_nothing,
                          .sessions = true,
                          .ballots = true},
                         {.name = "compare_without_clock",
                          .make = make_comparing<false>,
                          .run = run_nothing,
                          .sessions = true}};
    out.insert(out.end(), further_rows().begin(), further_rows().end());
    return out;
}

INSTANTIATE_TEST_SUITE_P(stores, oracle, testing::ValuesIn(all_rows()),
                         [](auto const& which) { return which.param.name; });

}  // namespace
}  // namespace holdfast::oracle
