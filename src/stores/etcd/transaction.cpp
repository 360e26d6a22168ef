#include "stores/etcd/transaction.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace holdfast::stores::etcd {

namespace {

using operations = google::protobuf::RepeatedPtrField<wire::RequestOp>;
using comparisons = google::protobuf::RepeatedPtrField<wire::Compare>;

void require_modified(comparisons& to, std::string key, std::int64_t revision) {
    auto& out = *to.Add();
    out.set_target(wire::Compare::MOD);
    out.set_key(std::move(key));
    out.set_mod_revision(revision);
}

void require_created(comparisons& to, std::string key, std::int64_t revision) {
    auto& out = *to.Add();
    out.set_target(wire::Compare::CREATE);
    out.set_key(std::move(key));
    out.set_create_revision(revision);
}

void require_there(comparisons& to, std::string key) {
    require_created(to, std::move(key), 0);
    to[to.size() - 1].set_result(wire::Compare::GREATER);
}

// A range without keys counts as one key that was created at 0, so it passes.
void require_nobody_behind(comparisons& to, key_range line, std::uint64_t place) {
    require_created(to, std::move(line.begin), static_cast<std::int64_t>(place) + 1);
    auto& out = to[to.size() - 1];
    out.set_result(wire::Compare::LESS);
    out.set_range_end(std::move(line.end));
}

wire::PutRequest put(std::string key, std::string value, std::int64_t lease) {
    wire::PutRequest out;
    out.set_key(std::move(key));
    out.set_value(std::move(value));
    out.set_lease(lease);
    return out;
}

wire::PutRequest put(std::string key, compare::line_item const& item) {
    wire::Waiter value;
    value.set_client(static_cast<std::uint64_t>(item.id.client));
    value.set_number(item.id.number);
    value.set_body(item.body);
    return put(std::move(key), value.SerializeAsString(), lease_of(item.session));
}

/// The writes of a step, with what etcd wants to know of their leases.
class writer {
public:
    writer(compare::step const& what, keys const& at, operations& to) : at_{at}, to_{to} {
        alive_.insert(what.self);
        for (auto const& each : what.present)
            alive_.insert(each.session);
    }

    // A lease that is gone would fail the whole transaction. Of some sessions the conditions say that
    // they live; of others it is asked on the spot, and what belongs to a dead one is not written.
    wire::TxnRequest* put_for(compare::session_id whose, wire::PutRequest what) {
        if (alive_.contains(whose)) {
            *to_.Add()->mutable_request_put() = std::move(what);
            return nullptr;
        }
        auto& inner = *to_.Add()->mutable_request_txn();
        require_there(*inner.mutable_compare(), at_.session(whose));
        *inner.add_success()->mutable_request_put() = std::move(what);
        return &inner;
    }

    void write(compare::name_key const& key, compare::head_write const& head) {
        auto const erase = [&](wire::RequestOp& to) {
            to.mutable_request_delete_range()->set_key(at_.head(key));
        };
        if (head.erase) return erase(*to_.Add());
        wire::Head value;
        for (auto const id : head.sessions)
            value.add_sessions(static_cast<std::uint64_t>(id));
        value.set_body(head.body);
        value.set_quiet(!head.announced);
        auto request =
            put(at_.head(key), value.SerializeAsString(), head.bound ? lease_of(*head.bound) : 0);
        if (!head.bound) {
            *to_.Add()->mutable_request_put() = std::move(request);
        } else if (auto* const inner = put_for(*head.bound, std::move(request)); inner != nullptr) {
            erase(*inner->add_failure());  // as if it had ended with its session right away
        }
    }

    void join(compare::name_key const& key, compare::line_item const& item) {
        put_for(item.session, put(at_.claim(key, item.id), item));
    }

    void leave(compare::name_key const& key, compare::line_item const& item) {
        to_.Add()->mutable_request_delete_range()->set_key(at_.claim(key, item.id));
    }

    void send(compare::letter const& letter) {
        auto const index = letters_[letter.to]++;
        put_for(letter.to, put(at_.letter(letter.to, index), letter.body, lease_of(letter.to)));
    }

private:
    keys const& at_;
    operations& to_;
    std::set<compare::session_id> alive_;
    std::map<compare::session_id, std::size_t>
        letters_;  ///< a key is written once in a transaction
};

void add_ranges(operations& to, std::span<wire::RangeRequest const> ranges) {
    for (auto const& each : ranges)
        *to.Add()->mutable_request_range() = each;
}

}  // namespace

namespace {

// What etcd allows in a transaction: along each way through it, the nested ones included.
constexpr std::size_t most_operations = 128;

// The look of the second branch, with as many sessions as there is room for. The others take a look of their own.
compare::name_query look_of(compare::step const& what) {
    auto out = what.otherwise;
    out.key = what.key;
    auto const conditions =
        2 + what.present.size() + what.append.size() + (what.nobody_behind ? 1 : 0);
    auto const writes =
        (what.head ? 1 : 0) + what.leave.size() + what.append.size() + what.letters.size();
    constexpr std::size_t within_an_append = 2;
    auto const taken = std::max(conditions, writes) + what.append_otherwise.size() +
                       within_an_append + ranges_of_a_name + out.claims.size();
    auto const room = most_operations - std::min(most_operations, taken);
    if (out.sessions.size() > room) out.sessions.resize(room);
    return out;
}

void write_first(compare::step const& what, keys const& at, operations& to) {
    writer first{what, at, to};
    if (what.head) first.write(what.key, *what.head);
    for (auto const& each : what.leave)
        first.leave(what.key, each);
    for (auto const& each : what.append)
        first.join(what.key, each);
    for (auto const& each : what.letters)
        first.send(each);
}

// Whether a claim leaves the line by the key with which another one joins it: whoever wants that has seen a claim that
// is gone by now. The conditions do not allow it, and etcd takes no request with such writes.
bool shares_keys(compare::step const& what, keys const& at) {
    return std::ranges::any_of(what.append, [&](compare::line_item const& joins) {
        return std::ranges::any_of(what.leave, [&](compare::line_item const& leaves) {
            return at.claim(what.key, joins.id) == at.claim(what.key, leaves.id);
        });
    });
}

}  // namespace

wire::TxnRequest transaction_of(compare::step const& what, keys const& at) {
    wire::TxnRequest out;
    auto& conditions = *out.mutable_compare();
    require_modified(conditions, at.session(what.self), revision_of(what.of));
    require_modified(conditions, at.head(what.key), revision_of(what.expected));
    for (auto const& each : what.present)
        require_created(conditions, at.claim(what.key, each.id),
                        static_cast<std::int64_t>(each.place));
    // What another claim has left at the key is not written over.
    for (auto const& each : what.append)
        require_created(conditions, at.claim(what.key, each.id), 0);
    if (what.nobody_behind)
        require_nobody_behind(conditions, at.line(what.key), *what.nobody_behind);

    if (!shares_keys(what, at)) write_first(what, at, *out.mutable_success());

    auto& otherwise = *out.add_failure()->mutable_request_txn();
    require_modified(*otherwise.mutable_compare(), at.session(what.self), revision_of(what.of));
    for (auto const& each : what.append_otherwise) {
        auto& inner = *otherwise.add_success()->mutable_request_txn();
        require_created(*inner.mutable_compare(), at.claim(what.key, each.id), 0);
        if (each.session != what.self)
            require_there(*inner.mutable_compare(), at.session(each.session));
        *inner.add_success()->mutable_request_put() = put(at.claim(what.key, each.id), each);
    }
    add_ranges(*otherwise.mutable_success(), ranges_for(look_of(what), at));
    return out;
}

std::optional<stepped> read_step(compare::step const& what, wire::TxnResponse const& from,
                                 keys const& at) {
    stepped out;
    if (from.succeeded()) {
        out.taken = stepped::branch::first;
        out.committed.written = stamp_of(from.header().revision());
        out.committed.places.assign(what.append.size(),
                                    static_cast<std::uint64_t>(from.header().revision()));
        return out;
    }
    if (from.responses_size() != 1 || !from.responses(0).has_response_txn()) return std::nullopt;
    auto const& otherwise = from.responses(0).response_txn();
    if (!otherwise.succeeded()) return out;
    out.taken = stepped::branch::second;
    std::vector<wire::RangeResponse const*> answers;
    for (auto const& each : otherwise.responses())
        if (each.has_response_range()) answers.push_back(&each.response_range());
    auto const query = look_of(what);
    if (answers.size() != ranges_of_a_name + query.claims.size() + query.sessions.size())
        return std::nullopt;
    out.seen = view_of(query, answers, at, what.self);
    auto& unknown = out.seen.unknown;
    for (auto left = query.sessions.size(); left < what.otherwise.sessions.size(); ++left) {
        auto const id = what.otherwise.sessions[left];
        if (std::ranges::find(unknown, id) == unknown.end()) unknown.push_back(id);
    }
    return out;
}

wire::TxnRequest reading(std::span<wire::RangeRequest const> ranges) {
    wire::TxnRequest out;
    add_ranges(*out.mutable_success(), ranges);
    return out;
}

bool has_ranges(wire::TxnResponse const& from, std::size_t count) {
    return static_cast<std::size_t>(from.responses_size()) == count &&
           std::ranges::all_of(from.responses(),
                               [](auto const& each) { return each.has_response_range(); });
}

wire::TxnRequest opening(compare::session_id id, std::string body, keys const& at) {
    wire::TxnRequest out;
    require_created(*out.mutable_compare(), at.session(id), 0);
    *out.add_success()->mutable_request_put() = put(at.session(id), std::move(body), lease_of(id));
    out.add_failure()->mutable_request_range()->set_key(at.session(id));
    return out;
}

std::optional<compare::generation> generation_of(wire::TxnResponse const& from) {
    if (from.succeeded()) return stamp_of(from.header().revision());
    if (!has_ranges(from, 1) || from.responses(0).response_range().kvs_size() != 1)
        return std::nullopt;
    return stamp_of(from.responses(0).response_range().kvs(0).mod_revision());
}

wire::TxnRequest raising(compare::session_id id, keys const& at) {
    wire::TxnRequest out;
    require_there(*out.mutable_compare(), at.session(id));
    auto& again = *out.add_success()->mutable_request_put();
    again.set_key(at.session(id));
    again.set_ignore_value(true);
    again.set_ignore_lease(true);
    return out;
}

}  // namespace holdfast::stores::etcd
