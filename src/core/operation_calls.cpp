// The part of the engine that carries out requests of their own: cells, listings, limits.
#include "core/operation_calls.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/engine_parts.hpp"
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

void operation_calls::begin(operation_call& call, base::instant now) {
    if (shared_.closed && !call.cleans_up) {
        call.error = closed_client();
        call.done = true;
        return shared_.completed(call.to);
    }
    call.ticket = ++last_ticket_;
    calls_.emplace(call.ticket, &call);
    attempt(call, now);
}

void operation_calls::attempt(operation_call& call, base::instant now) {
    if (now >= call.deadline) {
        return finish(call, call.error ? call.error : silent_store(shared_.settings.store));
    }
    auto const* const name = name_of(call.ask);
    if (name != nullptr) parts_.settlements.settle_before(std::hash<std::string>{}(*name), now);
    pending_request about{
        .purpose = request_purpose::operation, .sent = now, .subject = call.ticket};
    if (name != nullptr) about.lane = shared_.lane_of(*name);
    shared_.send(std::move(about), call.ask);
    // A request that hangs is sent again: nearly all are harmless when they arrive twice.
    auto const again = call.is_sent_once() ? base::never : now + shared_.settings.request_timeout;
    shared_.schedule(call, std::min(call.deadline, again));
}

void operation_calls::on_reply(pending_request const& was, seam::reply const& answer) {
    auto const found = calls_.find(was.subject);
    if (found == calls_.end()) return;
    auto& call = *found->second;
    if (!belongs_to(call.ask, answer.body)) return finish(call, senseless_answer());
    call.answer = answer;
    finish(call, {});
}

void operation_calls::on_failure(pending_request const& was, base::error const& error,
                                 base::instant now) {
    auto const found = calls_.find(was.subject);
    if (found == calls_.end()) return;
    auto& call = *found->second;
    if (!error.is(errc::store_unavailable) || now >= call.deadline || call.is_sent_once())
        return finish(call, error);
    call.error = error;
    auto const pause = shared_.back_off(++call.failures, engine_context::longest_back_off);
    shared_.schedule(call, std::min(call.deadline, now + pause));
}

void operation_calls::close(base::error const& why) {
    std::vector<operation_call*> asked;
    for (auto const& [ticket, call] : calls_)
        if (!call->cleans_up) asked.push_back(call);
    std::ranges::sort(asked, {}, &operation_call::ticket);
    for (auto* const call : asked)
        finish(*call, why);
}

void operation_calls::finish(operation_call& call, base::error error) {
    withdraw(call);
    call.error = std::move(error);
    call.done = true;
    shared_.completed(call.to);
}

void operation_calls::withdraw(operation_call& call) {
    shared_.schedule(call, base::never);
    calls_.erase(call.ticket);
}

}  // namespace holdfast::core
