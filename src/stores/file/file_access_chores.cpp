// What a client does beside its requests: reading notices, looking who is dead.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string>

#include "stores/file/file_access.hpp"
#include "stores/file/housekeeping.hpp"
#include "stores/file/numbers.hpp"

namespace holdfast::stores::file {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds look_at_least{700};
constexpr milliseconds look_at_most{1000};
constexpr milliseconds look_when_deaf{100};
constexpr seconds sweep_every{60};

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
    if (dead.empty() && waiting_.all().empty()) return;
    auto& file = *open_;
    transact(file, now + patience, [&](lease::rules& rules, seam::store_time time) {
        for (auto const client : dead)
            if (file.people.gone(client)) reap(file, rules, client);
        if (tick) reap_dead(file, rules, count_every);
        std::set<seam::claim_spec const*> seen;
        for (auto const& [id, spec] : waiting_.all()) {
            if (!seen.insert(spec.get()).second || seen.size() > chores_at_once) continue;
            auto* const record =
                file.ledger.find(spec->name, spec->hash, spec->kind == lock_kind::condition);
            if (record == nullptr) continue;
            rules.settle_time(*record);
            // Not of its own accord: what looks dead and is not would look so again at once.
            if (tick) observe_name(*spec);
        }
        if (file.ledger.due(file_ledger::chore::sweep, sweep_every)) sweep(file, rules, time);
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

}  // namespace holdfast::stores::file
