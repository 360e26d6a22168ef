// Steps: what becomes of their branches.
#include <utility>

#include "stores/sql/driver.hpp"

namespace holdfast::stores::sql {

namespace {

constexpr std::size_t most_contended = 4096;  ///< names that are remembered

}  // namespace

void driver::commit(compare::ticket which, compare::step what) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    leaves_something_ = true;
    bool const along = contended_.contains(what.key);
    auto const shared = std::make_shared<compare::step>(std::move(what));
    with_ballots(which, shared->ballot.has_value(), [this, which, shared, along] {
        mutex_.assert_held();
        send_step(which, shared, along);
    });
    settle();
}

void driver::remember(compare::name_key const& key, bool contended) {
    if (!contended) return static_cast<void>(contended_.erase(key));
    if (contended_.size() >= most_contended) contended_.clear();
    contended_.insert(key);
}

void driver::on_stepped(compare::ticket which, shared_step const& what, stepped found) {
    if (!found.guarded)
        return out_.tell(which,
                         compare::fenced{what->not_after && found.when.now > *what->not_after},
                         found.when);
    if (!what->append_otherwise.empty()) remember(what->key, !found.written);
    if (!found.written) {
        if (!found.otherwise) return send_second_branch(which, what);
        return on_second_branch(which, what, *std::move(found.otherwise), found.when);
    }
    compare::committed out{*found.written, {}, std::move(found.places)};
    if (!found.joined_unseen) return out_.tell(which, std::move(out), found.when);
    look({which, true}, {what->otherwise},
         [this, which, out](std::vector<compare::view> behind, compare::reading when) mutable {
             mutex_.assert_held();
             out.behind = std::move(behind.front());
             out_.tell(which, std::move(out), when);
         });
}

// Whoever was to join the line has joined it.
void driver::send_second_branch(compare::ticket which, shared_step const& what) {
    look({which, !what->append_otherwise.empty()}, {what->otherwise},
         [this, which](std::vector<compare::view> seen, compare::reading when) {
             mutex_.assert_held();
             out_.tell(which, compare::missed{std::move(seen.front())}, when);
         });
}

void driver::on_second_branch(compare::ticket which, shared_step const& what, viewed seen,
                              compare::reading when) {
    if (seen.expired.empty() && seen.untold.empty())
        return out_.tell(which, compare::missed{std::move(seen.found)}, when);
    look_again({which, !what->append_otherwise.empty()}, {what->otherwise}, {std::move(seen)},
               [this, which](std::vector<compare::view> closer, compare::reading then) {
                   mutex_.assert_held();
                   out_.tell(which, compare::missed{std::move(closer.front())}, then);
               });
}

}  // namespace holdfast::stores::sql
