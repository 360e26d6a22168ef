// Names: looks, steps and listings.
#include <algorithm>
#include <set>
#include <utility>

#include "stores/etcd/driver.hpp"
#include "stores/etcd/transaction.hpp"

namespace holdfast::stores::etcd {

struct driver::listed {
    compare::ticket which{};
    compare::listing what;
    std::set<std::string> found;
};

void driver::fetch(compare::ticket which, compare::query what) {
    base::lock_guard const guard{mutex_};
    range_requests wanted;
    if (what.names.empty()) {  // whether the store is there is asked all the same
        wanted.emplace_back().set_key(settings_.prefix);
        return read(core_->calls, std::move(wanted),
                    [this, which](fault const& trouble, range_responses&, std::uint64_t) {
                        mutex_.assert_held();
                        if (trouble) return tell(which, trouble);
                        tell(which, compare::views{});
                    });
    }
    std::vector<std::size_t> ends;  ///< behind the ranges of each name
    for (auto const& each : what.names) {
        std::ranges::move(ranges_for(each, keys_), std::back_inserter(wanted));
        ends.push_back(wanted.size());
    }
    read(core_->calls, std::move(wanted),
         [this, which, what = std::move(what), ends = std::move(ends)](
             fault const& trouble, range_responses& found, std::uint64_t) mutable {
             mutex_.assert_held();
             if (trouble) return tell(which, trouble);
             std::vector<wire::RangeResponse const*> all;
             for (auto const& each : found)
                 all.push_back(&each);
             std::vector<looked> seen;
             std::size_t begin = 0;
             for (std::size_t each = 0; each < ends.size(); begin = ends[each++])
                 seen.push_back(view_of(what.names[each],
                                        std::span{all}.subspan(begin, ends[each] - begin), keys_));
             complete_views(which, std::move(what), std::move(seen), false);
         });
}

// Whom a name names is known only when it was read, so their bodies take a second look. Death is for ever: what is
// read later is as good.
void driver::complete_views(compare::ticket which, compare::query what, std::vector<looked> seen,
                            bool missed) {
    range_requests wanted;
    for (std::size_t each = 0; each < seen.size(); ++each)
        for (auto const id : seen[each].unknown)
            wanted.push_back(range_for(id, what.names[each].bodies, keys_));
    read(core_->calls, std::move(wanted),
         [this, which, seen = std::move(seen), missed](fault const& trouble, range_responses& found,
                                                       std::uint64_t) mutable {
             mutex_.assert_held();
             compare::views out;
             std::size_t next = 0;
             for (auto& each : seen) {
                 if (!trouble)
                     for (auto const id : each.unknown)
                         set_session(each.found, id, found[next++]);
                 out.found.push_back(std::move(each.found));
             }
             if (missed) return tell(which, compare::missed{std::move(out.found.front())});
             tell(which, std::move(out));
         });
}

void driver::commit(compare::ticket which, compare::step what) {
    base::lock_guard const guard{mutex_};
    auto request = transaction_of(what, keys_);
    core_->calls.send<wire::TxnRequest, wire::TxnResponse>(
        "/etcdserverpb.KV/Txn", std::move(request),
        [this, which, what = std::move(what)](fault const& trouble,
                                              wire::TxnResponse const& response, base::instant) {
            mutex_.assert_held();
            if (trouble) return tell(which, trouble);
            auto done = read_step(what, response, keys_);
            if (!done) return tell(which, strange_answer());
            if (done->taken == stepped::branch::first)
                return tell(which, std::move(done->committed));
            if (done->taken == stepped::branch::none) return tell(which, compare::fenced{});
            std::vector<looked> seen;
            seen.push_back(std::move(done->seen));
            complete_views(which, {{what.otherwise}}, std::move(seen), true);
        });
}

void driver::list(compare::ticket which, compare::listing what) {
    base::lock_guard const guard{mutex_};
    auto state = std::make_shared<listed>();
    state->which = which;
    state->what = std::move(what);
    list_some(state);
}

// A name with a long line fills its range, and what stands behind it is not known then: the others count up to there
// only, and the list goes on from that name.
void driver::list_some(std::shared_ptr<listed> const& state) {
    constexpr std::int64_t most_keys = 1000;
    auto const& what = state->what;
    range_requests wanted;
    for (bool const condition : {false, true})
        for (bool const line : {true, false}) {
            if (what.waited_for && !line) continue;
            auto range = line ? keys_.lines_behind(condition, what.prefix, what.after)
                              : keys_.heads_behind(condition, what.prefix, what.after);
            auto& out = wanted.emplace_back();
            out.set_key(std::move(range.begin));
            out.set_range_end(std::move(range.end));
            out.set_limit(most_keys);
            out.set_keys_only(true);
        }
    read(core_->calls, std::move(wanted),
         [this, state](fault const& trouble, range_responses& found, std::uint64_t) {
             mutex_.assert_held();
             if (trouble) return tell(state->which, trouble);
             std::optional<std::string> known_until;
             std::set<std::string> seen;
             for (std::size_t each = 0; each < found.size(); ++each) {
                 bool const in_line =
                     state->what.waited_for || each % 2 == 0;  // as they were asked for
                 std::string last;
                 for (auto const& entry : found[each].kvs())
                     seen.insert(last = keys_.name_of(entry.key(), in_line));
                 if (found[each].more() && (!known_until || last < *known_until))
                     known_until = last;
             }
             if (known_until) seen.erase(seen.upper_bound(*known_until), seen.end());
             state->found.merge(seen);
             if (known_until && state->found.size() < state->what.most) {
                 state->what.after = *known_until;
                 return list_some(state);
             }
             compare::names out{{state->found.begin(), state->found.end()}};
             if (out.found.size() > state->what.most) out.found.resize(state->what.most);
             tell(state->which, std::move(out));
         });
}

void driver::watch(compare::ticket which, compare::name_key key) {
    base::lock_guard const guard{mutex_};
    core_->subscribed.watch(which, key);
    if (!out_.is_empty()) wake();
}

void driver::unwatch(compare::name_key key) noexcept {
    base::lock_guard const guard{mutex_};
    core_->subscribed.unwatch(key);
    if (!out_.is_empty()) wake();
}

void driver::watch_session(compare::session_id id) {
    base::lock_guard const guard{mutex_};
    core_->subscribed.watch_session(id);
}

void driver::unwatch_session(compare::session_id id) noexcept {
    base::lock_guard const guard{mutex_};
    core_->subscribed.unwatch_session(id);
}

}  // namespace holdfast::stores::etcd
