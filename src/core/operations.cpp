// The engine's part that carries out requests of their own: cells, listings, limits.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

// The name that a request of its own is about; null when it is about none in particular.
std::string const* name_of(seam::request const& what) {
    if (auto const* const read = std::get_if<seam::read>(&what)) return &read->key.name;
    if (auto const* const swap = std::get_if<seam::swap>(&what)) return &swap->key.name;
    if (auto const* const adjust = std::get_if<seam::adjust>(&what)) return &adjust->subject.name();
    if (auto const* const evict = std::get_if<seam::evict>(&what)) return &evict->name;
    if (auto const* const look = std::get_if<seam::inspect>(&what); look && look->exact)
        return &look->prefix;
    return nullptr;
}

template <class... Kinds>
bool is_one_of(seam::reply_body const& body) {
    return (std::holds_alternative<Kinds>(body) || ...);
}

// Whether the answer is of a kind that the request can have.
bool belongs_to(seam::request const& asked, seam::reply_body const& body) {
    struct kinds {
        seam::reply_body const& body;
        bool operator()(seam::hello const&) const { return is_one_of<seam::done>(body); }
        bool operator()(seam::submit const&) const {
            return is_one_of<seam::granted, seam::queued, seam::refused>(body);
        }
        bool operator()(seam::settle const&) const { return is_one_of<seam::settled>(body); }
        bool operator()(seam::renew const&) const { return is_one_of<seam::renewed>(body); }
        bool operator()(seam::convert const&) const {
            return is_one_of<seam::converted, seam::refused>(body);
        }
        bool operator()(seam::adjust const&) const {
            return is_one_of<seam::adjusted, seam::refused>(body);
        }
        bool operator()(seam::read const&) const { return is_one_of<seam::cell>(body); }
        bool operator()(seam::swap const&) const {
            return is_one_of<seam::swapped, seam::conflict, seam::refused>(body);
        }
        bool operator()(seam::watch const&) const { return is_one_of<seam::done>(body); }
        bool operator()(seam::unwatch const&) const { return is_one_of<seam::done>(body); }
        bool operator()(seam::inspect const&) const { return is_one_of<seam::page>(body); }
        bool operator()(seam::evict const&) const { return is_one_of<seam::evicted>(body); }
    };
    return std::visit(kinds{body}, asked);
}

}  // namespace

void engine::begin(operation_call& call, base::instant now) {
    turn const at{*this, now};
    if (closed_ && !call.cleans_up) {
        call.error = closed_client();
        call.done = true;
        return call.to->completed();
    }
    call.ticket = ++last_ticket_;
    operations_.emplace(call.ticket, &call);
    attempt_operation(call, now);
}

void engine::attempt_operation(operation_call& call, base::instant now) {
    if (now >= call.deadline) {
        return finish(call, call.error ? call.error : silent_store());
    }
    auto const* const name = name_of(call.ask);
    if (name != nullptr) settle_before(std::hash<std::string>{}(*name), now);
    pending_request about{.purpose = purpose::operation, .sent = now, .subject = call.ticket};
    if (name != nullptr) about.lane = lane_of(*name);
    send(std::move(about), call.ask);
    call.in_flight = true;
    // A request that hangs is sent again: nearly all are harmless when they arrive twice.
    auto const again = call.is_sent_once() ? base::never : now + set_.request_timeout;
    schedule(call, std::min(call.deadline, again));
}

void engine::on_operation_reply(pending_request const& was, seam::reply const& answer) {
    auto const found = operations_.find(was.subject);
    if (found == operations_.end()) return;
    auto& call = *found->second;
    if (!belongs_to(call.ask, answer.body)) return finish(call, senseless_answer());
    call.answer = answer;
    finish(call, {});
}

void engine::finish(operation_call& call, base::error error) {
    withdraw(call);
    call.error = std::move(error);
    call.done = true;
    call.to->completed();
}

void engine::withdraw(operation_call& call) {
    schedule(call, base::never);
    operations_.erase(call.ticket);
}

}  // namespace holdfast::core
