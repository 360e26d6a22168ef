// Sessions: leases with a record of their own, and a box for letters.
#include <utility>

#include "stores/compare/store_times.hpp"
#include "stores/etcd/driver.hpp"
#include "stores/etcd/lease_times.hpp"
#include "stores/etcd/transaction.hpp"

namespace holdfast::stores::etcd {

using compare::store_time_of;

struct driver::opening_session {
    compare::ticket which{};
    compare::session_id id{};
    std::chrono::milliseconds lease{};
    std::string body;
    compare::opened out;
    bool may_last{false};  ///< its lease is there, for all we know
    bool written{false};
    bool hears{false};
    fault deaf{};  ///< why it does not hear, and will not
    bool over{false};
};

void driver::open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
                  std::string body) {
    base::lock_guard const guard{mutex_};
    auto session = std::make_shared<opening_session>();
    session->which = which;
    session->id = id;
    session->lease = lease;
    session->body = std::move(body);
    session->may_last = in_doubt_.contains(id);
    session->hears = session->body.empty();  // the end of something: nobody writes to it
    grant(session);
    if (!session->over && !session->hears) open_mailbox(session);
}

void driver::grant(std::shared_ptr<opening_session> const& session) {
    wire::LeaseGrantRequest request;
    request.set_id(lease_of(session->id));
    request.set_ttl(std::chrono::ceil<std::chrono::seconds>(session->lease).count());
    core_->calls.send<wire::LeaseGrantRequest, wire::LeaseGrantResponse>(
        "/etcdserverpb.Lease/LeaseGrant", std::move(request),
        [this, session](fault const& trouble, wire::LeaseGrantResponse const& response,
                        base::instant sent) {
            mutex_.assert_held();
            // The id is our own, so a lease that is there already is the one that was asked for before.
            if (trouble.certain &&
                trouble.error.text.find("lease already exists") != std::string::npos) {
                session->may_last = true;
                return ask_for_grant(session);
            }
            if (trouble) return advance(session, trouble);
            session->may_last = true;
            session->out.lease = std::chrono::seconds{response.ttl()};
            session->out.began = store_time_of(sent);
            write_record(session);
        });
}

void driver::ask_for_grant(std::shared_ptr<opening_session> const& session) {
    wire::LeaseTimeToLiveRequest request;
    request.set_id(lease_of(session->id));
    core_->calls.send<wire::LeaseTimeToLiveRequest, wire::LeaseTimeToLiveResponse>(
        "/etcdserverpb.Lease/LeaseTimeToLive", std::move(request),
        [this, session](fault const& trouble, wire::LeaseTimeToLiveResponse const& response,
                        base::instant sent) {
            mutex_.assert_held();
            if (trouble) return advance(session, trouble);
            session->may_last = false;
            if (response.ttl() <= 0)
                return advance(session, not_sent({errc::store_unavailable,
                                                  "the session ended before it was opened"}));
            auto const passed = passed_of_lease(response.grantedttl(), response.ttl());
            if (!passed)
                return advance(session, not_sent({errc::store_unavailable,
                                                  "etcd has changed its leader meanwhile"}));
            session->may_last = true;
            session->out.lease = std::chrono::seconds{response.grantedttl()};
            session->out.began = store_time_of(sent) - *passed;  // no earlier
            write_record(session);
        });
}

void driver::write_record(std::shared_ptr<opening_session> const& session) {
    core_->calls.send<wire::TxnRequest, wire::TxnResponse>(
        "/etcdserverpb.KV/Txn", opening(session->id, session->body, keys_),
        [this, session](fault const& trouble, wire::TxnResponse const& response, base::instant) {
            mutex_.assert_held();
            if (trouble) return advance(session, trouble);
            auto const found = generation_of(response);
            if (!found) return advance(session, strange_answer());
            session->out.current = *found;
            session->written = true;
            advance(session, {});
        });
}

// What cannot hear is told when it is known whether there is a lease: as long as that may be, it is asked for again by
// the same id. Another one would leave it behind.
void driver::advance(std::shared_ptr<opening_session> const& session, fault const& trouble) {
    if (session->over) return;
    if (!trouble && !(session->written && (session->hears || session->deaf))) return;
    session->over = true;
    auto why = trouble ? trouble : session->deaf;
    in_doubt_.erase(session->id);
    if (!why) return tell(session->which, session->out);
    if (session->may_last) why.certain = false;
    bool const is_asked_again = !session->body.empty();
    if (!why.certain && is_asked_again) in_doubt_.insert(session->id);
    // Nobody asks for it again: the next try has another id.
    if (why.certain) close_mailbox(session->id);
    tell(session->which, why);
}

void driver::open_mailbox(std::shared_ptr<opening_session> const& session) {
    auto const id = session->id;
    auto& box = mail_[id];
    if (box.in_force) {
        session->hears = true;
        return advance(session, {});
    }
    box.waiting.push_back(session);
    if (box.watch != 0) return;
    box.watch = core_->watching.add(
        {.range = keys_.mail(id),
         .on_event =
             [this, id](wire::Event const& event) {
                 mutex_.assert_held();
                 if (event.type() == wire::Event::PUT)
                     out_.letter(id, event.kv().value(), stamp_of(event.kv().mod_revision()));
             },
         .on_force =
             [this, id](fault const& trouble, bool again) {
                 mutex_.assert_held();
                 if (again) out_.gap();
                 auto const found = mail_.find(id);
                 if (found == mail_.end()) return;
                 found->second.in_force = !trouble;
                 auto const waiting = std::exchange(found->second.waiting, {});
                 if (trouble) mail_.erase(found);
                 for (auto const& each : waiting) {
                     each->hears = !trouble;
                     each->deaf = trouble;
                     advance(each, {});
                 }
             }});
}

void driver::close_mailbox(compare::session_id id) {
    auto const found = mail_.find(id);
    if (found == mail_.end()) return;
    core_->watching.remove(found->second.watch);
    mail_.erase(found);
}

void driver::keep(compare::ticket which, std::vector<compare::session_id> ids) {
    base::lock_guard const guard{mutex_};
    if (ids.empty()) {
        tell(which, std::vector<compare::kept>{});
        return wake();
    }
    std::vector<std::int64_t> leases;
    for (auto const id : ids)
        leases.push_back(lease_of(id));
    core_->calls.send(std::make_unique<keep_alive_call>(
        std::move(leases),
        [this, which, ids](fault const& trouble, auto const& responses, base::instant sent) {
            mutex_.assert_held();
            if (trouble && responses.empty()) return tell(which, trouble);
            confirm(which, signs_of(ids, responses), sent);
        }));
}

// A member answers a sign of life alone, and a leader that was stopped or cut off does not know that it is one
// no more. So the sessions' records are read as well, which takes a majority.
void driver::confirm(compare::ticket which, std::vector<sign_of_life> signs, base::instant sent) {
    range_requests records;
    for (auto const& each : signs)
        records.emplace_back(range_for(each.id, true, keys_)).set_keys_only(true);
    read(core_->calls, std::move(records),
         [this, which, signs = std::move(signs), sent](
             fault const& trouble, range_responses& answered, std::uint64_t term) {
             mutex_.assert_held();
             if (trouble) return tell(which, trouble);
             std::vector<compare::kept> found;
             for (std::size_t each = 0; each < signs.size(); ++each) {
                 auto const& kvs = answered[each].kvs();
                 // One that somebody wrote again does not hang on the lease, and says nothing of it.
                 bool const there = !kvs.empty() && kvs[0].lease() == lease_of(signs[each].id);
                 auto const state = judge(signs[each], there, term);
                 if (state == compare::kept::state::dead) close_mailbox(signs[each].id);
                 found.push_back(
                     {.id = signs[each].id, .found = state, .began = store_time_of(sent)});
             }
             tell(which, std::move(found));
         });
}

void driver::raise(compare::ticket which, compare::session_id id) {
    base::lock_guard const guard{mutex_};
    core_->calls.send<wire::TxnRequest, wire::TxnResponse>(
        "/etcdserverpb.KV/Txn", raising(id, keys_),
        [this, which, id](fault const& trouble, wire::TxnResponse const& response, base::instant) {
            mutex_.assert_held();
            if (trouble) return tell(which, trouble);
            if (response.succeeded())
                return tell(which, compare::raised{stamp_of(response.header().revision())});
            close_mailbox(id);
            tell(which, compare::fenced{});
        });
}

void driver::close(compare::session_id id) noexcept try {
    base::lock_guard const guard{mutex_};
    close_mailbox(id);
    in_doubt_.erase(id);
    if (!core_->calls.is_ready()) return;
    wire::LeaseRevokeRequest request;
    request.set_id(lease_of(id));
    auto farewell =
        std::make_unique<unary_call<wire::LeaseRevokeRequest, wire::LeaseRevokeResponse>>(
            "/etcdserverpb.Lease/LeaseRevoke", std::move(request),
            [](fault const&, wire::LeaseRevokeResponse&, base::instant) {});
    farewell->farewell = true;
    core_->calls.send(std::move(farewell));
} catch (std::exception const&) {
    return;  // it ends with its lease
}

}  // namespace holdfast::stores::etcd
