// Coming and going: the connection of a client to its file, and what fork() does to it.
#include <algorithm>
#include <utility>

#include "base/pause.hpp"
#include "stores/file/file_access.hpp"
#include "stores/file/housekeeping.hpp"
#include "stores/file/numbers.hpp"

namespace holdfast::stores::file {

void file_access::connect(base::instant patience) {
    if (left_ || abandoned_)
        throw fault{{errc::closed, abandoned_ ? "the client belongs to the process that forked "
                                                "this one"
                                              : "the client is closed"},
                    false};
    if (open_ != nullptr) return;
    auto const opening = forks::opening();
    auto const where = location::prepare(settings_);
    auto const alive_path = where.path() + alive_suffix;
    // As long as the side file is the same our byte stays locked: nobody may think us dead while
    // we only open the file anew.
    if (alive_ && !alive_->is_at(alive_path.c_str())) alive_.reset();
    if (!alive_) alive_.emplace(where.companion_file(alive_suffix));
    for (;;) {
        try {
            auto made = std::make_unique<open_file>(where, settings_, *alive_, self_, patience);
            join(*made, patience);
            open_ = std::move(made);
            return;
        } catch (fault const& error) {
            // Two that make the same file at once may get in each other's way, which SQLite's
            // waiting for locks does not cover.
            if (error.broken() || base::boot_clock::now() >= patience) throw;
            base::pause(std::chrono::microseconds{200 + random_.below(800)});
        }
    }
}

void file_access::join(open_file& file, base::instant patience) {
    auto const here = clock_identity::here();
    auto const now = file.begin(patience);
    bool const known = alive_->slot() >= 0;  // in the file already, by a row with our byte
    std::vector<std::int64_t> rings;
    bool heard = false;
    try {
        file.settle_clock(here, now);
        file.people.join();
        heard = file.fifos.hang(alive_->slot());
        std::vector<lease::directed_notice> told;
        lease::rules rules{file.ledger, now, self_, told};
        if (voided_) {
            reap(file, rules, self_->id);
            file.people.join();
        }
        std::vector<seam::notice> own;
        rings = address(file, told, own);
        file.ledger.flush();
        file.file.commit();
    } catch (...) {
        // While nobody else can look: it would speak for whoever had the byte before.
        if (!known) alive_->give_up();
        file.file.rollback();
        throw;
    }
    voided_ = false;
    for (auto const slot : rings)
        file.fifos.ring(slot);
    if (heard) file.listening = poller_.listen(file.fifos.own());
    if (!heard && !deaf_)
        say(log_level::warning, "the store file '" + settings_.path +
                                    "' lies on a file system without FIFOs; waiters look for "
                                    "news ten times a second instead of being told");
    deaf_ = !heard;
}

// A file that was removed or replaced goes on living for those who have it open. They must not go
// on locking in it while others lock in the new one.
void file_access::require_in_place(open_file& file) {
    if (!file.displaced(base::boot_clock::now())) return;
    auto const words = "the store file '" + settings_.path +
                       "' or one of its companions was removed or replaced while it was in use; "
                       "all holds in it have ended, and the next request uses what is there now";
    std::vector<seam::notice> own;
    try {
        auto row = file.file.query("SELECT number FROM claims WHERE client = ? AND kept = 0");
        row.with(raw(self_->id));
        while (row.next())
            own.emplace_back(seam::claim_gone{{self_->id, row.as<std::uint64_t>(0)}, words});
    } catch (fault const&) {
        say(log_level::warning, "the claims of the old store file could not be read");
    }
    voided_ = true;
    waiting_.clear();
    tell(std::move(own));
    say(log_level::warning, words);
    throw fault{{errc::store_unavailable, words}, true};
}

void file_access::leave() noexcept {
    if (abandoned_) return;
    std::unique_lock guard{mutex_};
    if (std::exchange(left_, true)) return unlock(guard);
    constexpr auto longest = std::chrono::milliseconds{500};  // others would find us gone anyway
    try {
        auto const patience =
            base::after(base::boot_clock::now(), std::min(longest, settings_.timeout));
        bool more = open_ != nullptr;
        while (more) {
            transact(*open_, patience, [&](lease::rules& rules, seam::store_time) {
                more = !reap(*open_, rules, self_->id);
            });
        }
        if (open_ != nullptr) open_->file.shorten_log();
    } catch (std::exception const& error) {
        // The byte that is unlocked now tells everybody that we are gone.
        say(log_level::debug, std::string{"leaving without a word: "} + error.what());
    }
    open_.reset();
    alive_.reset();
    waiting_.clear();
    unlock(guard);
}

base::descriptor file_access::share_presence() noexcept {
    std::lock_guard const guard{mutex_};
    return alive_ && !abandoned_ ? alive_->share() : base::descriptor{};
}

sqlite3* file_access::part() noexcept {
    abandoned_ = true;
    if (alive_) alive_->abandon();
    return open_ == nullptr ? nullptr : open_->file.release();
}

// The handler of pthread_atfork that calls `part` may come later than this, or, when somebody forked
// behind the back of the C library, never.
void file_access::abandon() noexcept {
    abandoned_ = true;
    if (alive_) alive_->abandon();
}

file_access::~file_access() {
    leave();
    // A connection of the parent, in a state that nobody knows, is not ours to close.
    if (open_ != nullptr && open_->file.connected()) static_cast<void>(open_.release());
}

}  // namespace holdfast::stores::file
