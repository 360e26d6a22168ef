// The rules of every lease store: who may hold, who is next, when it ends. Written once.
#pragma once

#include <memory>
#include <vector>

#include "stores/lease/ledger.hpp"

namespace holdfast::stores::lease {

/// A notice and the client that it is for.
struct directed_notice {
    seam::client_id to;
    seam::notice what;
};

/// Carries out one request within one exclusive section of the ledger, at one moment of the store's
/// clock. Holders whose lease is over are removed before anything is judged; every change that
/// frees a name grants its next live waiters at once, so that a name is never free while somebody
/// alive waits for it.
///
/// Thread-safety: none; made for one section, by the thread that is inside it.
class rules {
public:
    rules(ledger& store, seam::store_time now, std::shared_ptr<seam::identity const> self,
          std::vector<directed_notice>& notices)
        : ledger_{store}, now_{now}, self_{std::move(self)}, notices_{notices} {}

    [[nodiscard]] seam::reply_body handle(seam::request const& what);

    /// Ends every claim of a client that is provably gone. `record` is one it had claims on.
    void reap(name_record& record, seam::client_id client);

    /// Removes what has expired and moves the line of one name.
    void settle_time(name_record& record);

    /// Lets those in who wait for what their owner holds already. They come in by themselves where whoever asks
    /// sees who holds; a ledger whose line is joined unseen calls it when somebody was overlooked.
    void admit_joiners(name_record& record);

private:
    seam::reply_body apply(seam::hello const&) { return seam::done{}; }
    seam::reply_body apply(seam::submit const& what);
    seam::reply_body apply(seam::settle const& what);
    seam::reply_body apply(seam::renew const& what);
    seam::reply_body apply(seam::convert const& what);
    seam::reply_body apply(seam::adjust const& what);
    seam::reply_body apply(seam::read const& what);
    seam::reply_body apply(seam::swap const& what);
    seam::reply_body apply(seam::watch const& what);
    seam::reply_body apply(seam::unwatch const& what);
    seam::reply_body apply(seam::inspect const& what);
    seam::reply_body apply(seam::evict const& what);

    [[nodiscard]] name_record* live(seam::claim_spec const& spec);
    [[nodiscard]] std::optional<seam::refused> disagreement(name_record& record,
                                                            seam::claim_spec const& spec) const;
    [[nodiscard]] bool admits(name_record& record, seam::claim const& wanted);
    [[nodiscard]] bool fits(name_record const& record, claim_mode mode,
                            std::uint32_t permits) const;
    [[nodiscard]] entry entry_for(seam::claim const& wanted, seam::submit const& how) const;
    seam::grant hold(name_record& record, seam::claim const& wanted, seam::submit const& how);
    seam::reply_body join_line(name_record& record, seam::claim const& wanted,
                               seam::submit const& how);
    [[nodiscard]] seam::grant grant_of(name_record const& record, entry const& held) const;
    [[nodiscard]] std::chrono::milliseconds blocked_for(name_record& record);
    seam::renewal renew_one(seam::renew::item const& item);
    seam::ending end_one(seam::settle const& how);
    std::size_t evict_from(name_record& record, seam::evict const& what);
    void wake(name_record& record, std::uint32_t most);

    void end(name_record& record, entry& ended, char const* why);
    void count_held(name_record& record, entry const& held, int by);
    bool recall(name_record& record);
    void move_line(name_record& record);
    void let_in(name_record& record, entry& next, seam::sequence number);
    void let_joiners_in(name_record& record, entry const& first);
    void tidy(name_record& record);
    void tell(seam::client_id to, seam::notice what);
    void tell_of_holders(name_record const& record);
    void leaves_line(name_record& record, entry const& waiter);
    void tell_first_of_kept(name_record& record);
    void tell_watchers(seam::cell_key const& key);

    ledger& ledger_;
    seam::store_time now_;
    std::shared_ptr<seam::identity const> self_;
    std::vector<directed_notice>& notices_;
    bool first_left_{false};  ///< the line that is moved next has another first waiter than before
};

}  // namespace holdfast::stores::lease
