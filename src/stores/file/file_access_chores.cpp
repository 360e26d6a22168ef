// What a client does beside its requests: reading notices, ending the claims of the dead, keeping
// the file small.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string>

#include "stores/file/file_access.hpp"
#include "stores/file/numbers.hpp"
#include "stores/file/schema.hpp"

namespace holdfast::stores::file {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds look_at_least{700};
constexpr milliseconds look_at_most{1000};
constexpr milliseconds look_when_deaf{100};
constexpr seconds sweep_every{60};
constexpr std::int64_t batch = 256;  // so that no transaction keeps the file locked for long

}  // namespace

bool file_access::look(file_poller::news const& news) noexcept {
    std::unique_lock guard{mutex_, std::try_to_lock};
    if (!guard) {
        // The owner of the lock asks for this flag after it unlocked. Had it unlocked before the
        // flag was set, the second try would succeed.
        wanted_ = true;
        if (!guard.try_lock()) return false;
    }
    try {
        if (open_ != nullptr && !left_ && !abandoned_) follow_up(news);
    } catch (fault const& error) {
        if (error.broken()) open_.reset();
        say(log_level::debug, error.what());
    } catch (std::exception const& error) {
        open_.reset();
        say(log_level::warning, error.what());
    }
    unlock(guard);
    return true;
}

void file_access::follow_up(file_poller::news const& news) {
    auto& file = *open_;
    auto const now = base::boot_clock::now();
    bool const tick = now >= next_look();
    if (news.rung) file.fifos.silence();
    if (tick) plan_look(now);  // first: whatever goes wrong below is tried again later
    // A ring may have been for whoever has our slot in a new file, and took our FIFO over with it.
    if (news.rung || tick) require_in_place(file);
    if (news.rung || tick) tell(file.mail.fetch(self_->id));
    for (auto const client : news.exited)
        poller_.forget(client);
    if (tick || !news.exited.empty()) tend(now, tick, news.exited);
}

void file_access::tend(base::instant now, bool tick, std::vector<seam::client_id> const& suspects) {
    constexpr milliseconds patience{20};  // a driver has other things to do
    constexpr milliseconds count_every{500};
    if (tick && !busy()) {
        next_look_ = base::never.time_since_epoch().count();
        return;
    }
    auto dead = suspects;
    if (tick) std::ranges::copy(dead_in_view(), std::back_inserter(dead));
    if (dead.empty() && waiting_.empty()) return;
    auto& file = *open_;
    transact(file, now + patience, [&](lease::rules& rules, seam::store_time time) {
        for (auto const client : dead)
            if (file.people.gone(client)) reap(file, rules, client);
        if (tick) count_dead(rules, count_every);
        std::set<seam::claim_spec const*> seen;
        for (auto const& [id, spec] : waiting_) {
            if (!seen.insert(spec.get()).second || seen.size() > batch) continue;
            auto* const record =
                file.ledger.find(spec->name, spec->hash, spec->kind == lock_kind::condition);
            if (record == nullptr) continue;
            rules.settle_time(*record);
            // Not of its own accord: what looks dead and is not would look so again at once.
            if (tick) observe_name(*spec);
        }
        if (file.ledger.due(file_ledger::chore::sweep, sweep_every)) sweep(rules, time);
    });
}

// Who holds what we watch and seems to be gone; the processes of the others are watched from now on.
// Outside of a transaction that may write this is only a guess, but it costs no more than reading,
// and hardly ever is there anybody to write about.
std::vector<seam::client_id> file_access::dead_in_view() {
    constexpr std::size_t most_watched = 32;  // leaves the poller room for those in our way
    auto& file = *open_;
    std::vector<seam::client_id> holders;
    {
        auto row = file.file.query(
            "SELECT DISTINCT claims.client FROM watches CROSS JOIN claims"
            " ON claims.condition = (watches.kind = 4) AND claims.name = watches.name"
            " AND claims.held = 1 WHERE watches.client = ? AND claims.client <> watches.client");
        row.with(raw(self_->id));
        while (row.next())
            holders.push_back(row.as<seam::client_id>(0));
    }
    file.people.begin();
    std::vector<seam::client_id> out;
    std::size_t watched = 0;
    for (auto const client : holders) {
        if (file.people.gone(client)) {
            out.push_back(client);
        } else if (watched < most_watched) {
            ++watched;
            observe_client(*file.people.who(client));
        }
    }
    return out;
}

// Whether this client has anything in the file that others could change.
bool file_access::busy() {
    auto row = open_->file.query(
        "SELECT EXISTS (SELECT 1 FROM claims WHERE client = ?)"
        " OR EXISTS (SELECT 1 FROM watches WHERE client = ?)");
    return row.with(raw(self_->id), raw(self_->id)).next() && row.integer(0) != 0;
}

void file_access::plan_look(base::instant now) {
    auto const spread = static_cast<std::uint64_t>((look_at_most - look_at_least).count());
    auto const wait =
        deaf_ ? look_when_deaf
              : look_at_least + milliseconds{static_cast<milliseconds::rep>(random_.below(spread))};
    next_look_ = (now + wait).time_since_epoch().count();
}

// Ends the claims of a client that is gone, at most a batch of them; its row goes with the last: whether
// it went.
bool file_access::reap(open_file& file, lease::rules& rules, seam::client_id client) {
    auto const left = file.people.belongings(client);
    std::vector<std::pair<bool, std::string>> names;
    if (left.claims) {
        auto row = file.file.query(
            "SELECT DISTINCT condition, name FROM claims WHERE client = ? AND kept = 0 LIMIT ?");
        row.with(raw(client), batch);
        while (row.next())
            names.emplace_back(row.integer(0) != 0, row.text(1));
    }
    for (auto const& [condition, name] : names) {
        auto* const record = file.ledger.find(name, std::hash<std::string>{}(name), condition);
        if (record != nullptr) rules.reap(*record, client);
    }
    if (static_cast<std::int64_t>(names.size()) == batch) return false;
    if (left.watches) file.ledger.forget(client);
    file.people.remove(client, left.notices);
    return true;
}

void file_access::count_dead(lease::rules& rules, std::chrono::microseconds at_most_every) {
    auto& file = *open_;
    if (!file.ledger.due(file_ledger::chore::count_clients, at_most_every)) return;
    for (auto const client : file.people.count())
        reap(file, rules, client);
}

// Removes what is over and what nobody asks for any more.
void file_access::sweep(lease::rules& rules, seam::store_time now) {
    auto& file = *open_;
    file.file.query("DELETE FROM bars WHERE until <= ?").with(count(now)).run();
    sweep_ballots(file.file, now);
    std::set<std::pair<bool, std::string>> names;
    for (auto const* const sql :
         {"SELECT kind = 4, name FROM cells WHERE expires <= ? LIMIT 256",
          "SELECT condition, name FROM claims WHERE expires <= ? LIMIT 256",
          "SELECT condition, name FROM names WHERE holders = 0 AND waiters = 0 AND cells = 0"
          " AND keep_until <= ? LIMIT 256"}) {
        auto row = file.file.query(sql);
        row.with(count(now));
        while (row.next())
            names.emplace(row.integer(0) != 0, row.text(1));
    }
    for (auto const& [condition, name] : names) {
        auto* const record = file.ledger.find(name, std::hash<std::string>{}(name), condition);
        if (record == nullptr) continue;
        rules.settle_time(*record);
        if (record->empty(now)) file.ledger.erase(*record);
    }
}

}  // namespace holdfast::stores::file
