// Requests: one transaction each.
#include "stores/file/file_access.hpp"

#include <algorithm>

#include "stores/file/housekeeping.hpp"

namespace holdfast::stores::file {

file_access::file_access(settings wanted, seam::identity self, log_function log, file_poller& wakes)
    : settings_{std::move(wanted)},
      self_{std::make_shared<seam::identity>(std::move(self))},
      log_{std::move(log)},
      poller_{wakes},
      random_{base::entropy()} {}

base::instant file_access::give_up_time(seam::request const& what) const noexcept {
    auto const latest = base::after(base::boot_clock::now(), settings_.timeout);
    auto const* const submit = std::get_if<seam::submit>(&what);
    if (submit == nullptr) return latest;
    // Later it takes no effect. Compared as the store's coarser time: the latest of all would not fit
    // into an instant.
    auto const last = submit->not_after.time_since_epoch();
    return last < std::chrono::floor<std::chrono::microseconds>(latest.time_since_epoch())
               ? base::instant{last}
               : latest;
}

std::optional<seam::reply> file_access::handle(seam::request const& what, base::instant patience,
                                               base::instant give_up) noexcept {
    std::unique_lock guard{mutex_};
    std::optional<seam::reply> done{std::in_place};
    auto& out = *done;
    try {
        out = carry_out(what, patience);
    } catch (fault const& error) {
        if (error.broken()) open_.reset();
        if (error.busy() && base::boot_clock::now() < give_up) {
            done.reset();
        } else {
            out.body = seam::failure{error.why()};
        }
    } catch (std::exception const& error) {
        open_.reset();
        out.body =
            seam::failure{{errc::store_unavailable, "the store file '" + settings_.path +
                                                        "' cannot be used: " + error.what()}};
    }
    unlock(guard);
    return done;
}

// Whoever found the lock taken may have been told to look: that must not be forgotten.
void file_access::unlock(std::unique_lock<std::mutex>& guard) noexcept {
    auto const words = std::exchange(words_, {});
    guard.unlock();
    if (wanted_.exchange(false)) poller_.wake();
    for (auto const& [level, text] : words)
        log_(level, text);
}

seam::reply file_access::carry_out(seam::request const& what, base::instant patience) {
    connect(patience);
    auto& file = *open_;
    if (std::holds_alternative<seam::read>(what) || std::holds_alternative<seam::hello>(what))
        return read(what, patience);
    seam::reply out;
    transact(file, patience, [&](lease::rules& rules, seam::store_time now) {
        out.now = now;
        prepare(rules, what);
        out.body = rules.handle(what);
        observe(what, out.body);
    });
    remember(what, out.body);
    return out;
}

// Readers wait for nobody, and nobody waits for them.
seam::reply file_access::read(seam::request const& what, base::instant patience) {
    auto& file = *open_;
    require_in_place(file);
    seam::reply out;
    std::vector<lease::directed_notice> none;
    file.file.begin_reading(patience);
    try {
        out.now = store_now();
        file.people.begin();
        file.ledger.begin(out.now);
        lease::rules rules{file.ledger, out.now, self_, none};
        out.body = rules.handle(what);
        file.file.commit();
    } catch (...) {
        file.file.rollback();
        throw;
    }
    return out;
}

void file_access::transact(open_file& file, base::instant patience, work const& what) {
    auto const now = file.begin(patience);
    std::vector<seam::notice> own;
    std::vector<std::int64_t> rings;
    try {
        require_in_place(file);
        std::vector<lease::directed_notice> told;
        lease::rules rules{file.ledger, now, self_, told};
        what(rules, now);
        file.mail.clear(self_->id);
        rings = address(file, told, own);
        file.ledger.flush();
        file.file.commit();
    } catch (...) {
        file.file.rollback();
        throw;
    }
    file.mail.cleared();
    for (auto const slot : rings)
        file.fifos.ring(slot);
    tell(std::move(own));
}

// Writes what others are told into the file; gives back where to ring, and what is for us.
std::vector<std::int64_t> file_access::address(open_file& file,
                                               std::vector<lease::directed_notice>& told,
                                               std::vector<seam::notice>& own) {
    std::vector<std::int64_t> rings;
    for (auto& [to, notice] : told) {
        if (to == self_->id) {
            own.push_back(std::move(notice));
        } else if (auto const slot = file.people.slot(to)) {
            file.mail.put(file.ledger, to, notice);
            if (std::ranges::find(rings, *slot) == rings.end()) rings.push_back(*slot);
        }
    }
    return rings;
}

void file_access::tell(std::vector<seam::notice> own) {
    if (own.empty()) return;
    for (auto const& notice : own)
        waiting_.note(notice);
    {
        base::lock_guard const guard{inbox_mutex_};
        std::ranges::move(own, std::back_inserter(inbox_));
    }
    poller_.wake();
}

std::vector<seam::notice> file_access::take() {
    base::lock_guard const guard{inbox_mutex_};
    return std::exchange(inbox_, {});
}

// One holder among many may be dead without being the first to expire, which the ledger would see.
void file_access::prepare(lease::rules& rules, seam::request const& what) {
    constexpr auto at_most_every = std::chrono::milliseconds{100};
    auto const* const wanted = std::get_if<seam::submit>(&what);
    if (wanted == nullptr) return;
    auto const& spec = *wanted->subject.spec;
    auto const* const record =
        open_->ledger.find(spec.name, spec.hash, spec.kind == lock_kind::condition);
    if (record != nullptr && record->holders > 1) reap_dead(*open_, rules, at_most_every);
}

// Keeps an eye on the processes in the way of our waiting claims.
void file_access::observe(seam::request const& what, seam::reply_body const& answer) {
    if (std::holds_alternative<seam::queued>(answer)) {
        observe_name(*std::get<seam::submit>(what).subject.spec);
    } else if (auto const* const renewed = std::get_if<seam::renewed>(&answer)) {
        auto const& items = std::get<seam::renew>(what).items;
        for (std::size_t i = 0; i < items.size(); ++i)
            if (renewed->items[i].found == seam::renewal::status::waiting)
                observe_name(*items[i].subject.spec);
    }
}

void file_access::observe_name(seam::claim_spec const& spec) {
    auto& file = *open_;
    auto* const record = file.ledger.find(spec.name, spec.hash, spec.kind == lock_kind::condition);
    auto const* const holder = record == nullptr ? nullptr : file.ledger.soonest_holder(*record);
    if (holder != nullptr && !holder->kept) observe_client(*holder->who);
}

void file_access::observe_client(seam::identity const& who) {
    if (who.pid > 0 && who.pid != self_->pid) poller_.watch(who.id, who.pid);
}

void file_access::remember(seam::request const& what, seam::reply_body const& answer) {
    if (!waiting_.note(what, answer)) return;
    if (next_look() == base::never) {
        plan_look(base::boot_clock::now());
        poller_.wake();  // whoever drives does not know yet that there is something to look after
    }
}

}  // namespace holdfast::stores::file
