// How a run is told in words: one line for each thing that happens.
#include <cinttypes>
#include <cstdio>

#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

std::string text(seam::request_id id) {
    return "[" + std::to_string(static_cast<std::uint64_t>(id)) + "]";
}

std::string text(seam::grant const& held) {
    return std::to_string(static_cast<std::uint64_t>(held.number)) + " since " +
           std::to_string(held.began.time_since_epoch().count()) +
           (held.contended ? ", contended" : "");
}

}  // namespace

void world::tell_story(std::string const& words) {
    if (trace_ == trace_mode::digested) {
        constexpr std::uint64_t prime = 0x100'0000'01b3;  // FNV-1a
        auto const add = [&](std::uint64_t value) { digest_ = (digest_ ^ value) * prime; };
        add(static_cast<std::uint64_t>(time.now().count()));
        for (char const each : words)
            add(static_cast<unsigned char>(each));
        return;
    }
    std::printf("%12.6f  %s\n", static_cast<double>(time.now().count()) / 1e9, words.c_str());
}

std::string world::short_name(seam::claim_id id) {
    auto const* const its = find(id.client);
    return (its == nullptr ? std::string{"nobody"} : name_of(*its)) + "#" +
           std::to_string(id.number);
}

std::string world::name_of(client const& it) { return "c" + std::to_string(it.index()); }

std::string world::words(core::engine::outgoing const& out) {
    auto const head = text(out.id) + " ";
    if (auto const* const submit = std::get_if<seam::submit>(&out.what))
        return head + "submit " + short_name(submit->subject.id) + " on '" +
               submit->subject.name() + "' not after " +
               std::to_string(submit->not_after.time_since_epoch().count());
    if (auto const* const settle = std::get_if<seam::settle>(&out.what))
        return head + "settle " + short_name(settle->subject.id) +
               (settle->tombstone_until > seam::store_time{} ? " and leaves a tombstone" : "");
    if (auto const* const renew = std::get_if<seam::renew>(&out.what)) {
        auto words = head + "renew";
        for (auto const& item : renew->items)
            words += " " + short_name(item.subject.id) + " for " +
                     std::to_string(item.lease.count()) + " ms";
        return words;
    }
    if (auto const* const swap = std::get_if<seam::swap>(&out.what))
        return head + "swap '" + swap->key.name + "' from " + std::to_string(swap->expected) +
               " to '" + swap->value + "' as " + short_name(swap->operation);
    if (auto const* const read = std::get_if<seam::read>(&out.what))
        return head + "read '" + read->key.name + "'";
    if (auto const* const adjust = std::get_if<seam::adjust>(&out.what))
        return head + "adjust '" + adjust->subject.name() + "', wake " +
               std::to_string(adjust->wake);
    if (auto const* const convert = std::get_if<seam::convert>(&out.what))
        return head + "convert " + short_name(convert->subject.id);
    constexpr char const* verbs[] = {"hello", "submit", "settle", "renew",   "convert", "adjust",
                                     "read",  "swap",   "watch",  "unwatch", "inspect", "evict"};
    return head + verbs[out.what.index()];
}

std::string world::words(seam::request_id id, seam::reply const& reply) {
    auto const head =
        text(id) + " at store time " + std::to_string(reply.now.time_since_epoch().count()) + ": ";
    if (auto const* const failed = std::get_if<seam::failure>(&reply.body))
        return text(id) + " failure: " + failed->error.text;
    if (auto const* const granted = std::get_if<seam::granted>(&reply.body))
        return head + "granted " + text(granted->held);
    if (std::holds_alternative<seam::queued>(reply.body)) return head + "queued";
    if (auto const* const refused = std::get_if<seam::refused>(&reply.body))
        return head + "refused, reason " + std::to_string(static_cast<int>(refused->why));
    if (auto const* const settled = std::get_if<seam::settled>(&reply.body))
        return head + (settled->how == seam::ending::released ? "released" : "gone");
    if (auto const* const renewed = std::get_if<seam::renewed>(&reply.body)) {
        std::string out = head + "renewed:";
        for (auto const& item : renewed->items)
            out += item.found == seam::renewal::status::alive     ? " alive " + text(item.held)
                   : item.found == seam::renewal::status::waiting ? " waiting"
                                                                  : " gone";
        return out;
    }
    if (auto const* const cell = std::get_if<seam::cell>(&reply.body))
        return head + "version " + std::to_string(cell->version) + " '" + cell->value + "'";
    if (auto const* const swapped = std::get_if<seam::swapped>(&reply.body))
        return head + "swapped to " + std::to_string(swapped->version);
    if (auto const* const other = std::get_if<seam::conflict>(&reply.body))
        return head + (other->guard_failed ? "its guard failed, version " : "conflict, version ") +
               std::to_string(other->current.version) + " '" + other->current.value + "'";
    if (std::holds_alternative<seam::page>(reply.body)) return head + "a page";
    if (auto const* const now = std::get_if<seam::adjusted>(&reply.body))
        return head + "adjusted: " + std::to_string(now->used) + " of " +
               std::to_string(now->current);
    return head + (std::holds_alternative<seam::converted>(reply.body) ? "converted" : "done");
}

std::string world::words(seam::notice const& what) {
    if (auto const* const granted = std::get_if<seam::claim_granted>(&what))
        return "granted " + short_name(granted->id) + " " + text(granted->held);
    if (auto const* const gone = std::get_if<seam::claim_gone>(&what))
        return "gone " + short_name(gone->id) + ": " + gone->why;
    if (auto const* const crowd = std::get_if<seam::name_contended>(&what))
        return "contended " + short_name(crowd->id);
    if (auto const* const changed = std::get_if<seam::changed>(&what))
        return "changed '" + changed->key.name + "'";
    constexpr char const* states[] = {"in doubt", "lost", "restored"};
    auto const& session = std::get<seam::session_changed>(what);
    std::string out = std::string{"of a session: "} + states[static_cast<int>(session.became)];
    for (auto const& id : session.claims)
        if (session.claims.size() < 8) out += " " + short_name(id);
    return out;
}

}  // namespace holdfast::simulation
