#include "oracle/comparison.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace holdfast::oracle {

namespace {

std::string text(std::chrono::milliseconds span) { return std::to_string(span.count()) + "ms"; }
std::string text(seam::store_time when) {
    return std::to_string(when.time_since_epoch().count()) + "us";
}
std::string text(seam::cell_key const& key) {
    return std::string{to_string(key.kind)} + " " + key.name + "/" + key.part;
}
std::string text(seam::claim const& claim) {
    return std::to_string(claim.id.number) + " on " + to_string(claim.spec->kind) + " " +
           claim.name();
}

struct in_replies {
    sequence_names& names;
    bool timed{true};

    // A time or a span, where they are compared.
    template <class Time>
    std::string when(Time value) const {
        return timed ? text(value) : std::string{};
    }

    std::string grant(seam::grant const& held) const {
        return names.of(static_cast<std::uint64_t>(held.number)) + " since " + when(held.began) +
               (timed && held.contended ? " contended" : "");
    }
    std::string cell(seam::cell const& found) const {
        return names.of(found.version) + " '" + found.value + "'";
    }
    // Those of one moment come in any order. Sequences are named in the order in which they were drawn.
    std::string claims(std::vector<claim_info> all) const {
        constexpr int pass_bits = 8;
        std::ranges::sort(all, {}, [](claim_info const& each) {
            return std::pair{each.token, each.id};
        });
        std::string out;
        for (auto const& each : all)
            out += " " + each.id + " " + names.of(each.token >> pass_bits) + " mode " +
                   std::to_string(static_cast<int>(each.mode)) + " " +
                   std::to_string(each.permits) + " '" + each.value + "' for " + when(each.age) +
                   (each.kept ? " kept" : "");
        return out;
    }

    std::string operator()(seam::failure const& what) const { return "failure " + what.error.text; }
    std::string operator()(seam::done const&) const { return "done"; }
    std::string operator()(seam::granted const& what) const {
        return "granted " + grant(what.held);
    }
    std::string operator()(seam::queued const& what) const {
        return "queued " + when(what.blocked_for);
    }
    std::string operator()(seam::refused const& what) const {
        return "refused " + std::to_string(static_cast<int>(what.why)) + " " + what.text + " " +
               when(what.blocked_for) +
               (timed ? " above " + names.of(static_cast<std::uint64_t>(what.ballot)) : "");
    }
    std::string operator()(seam::settled const& what) const {
        return what.how == seam::ending::released ? "released" : "gone";
    }
    std::string operator()(seam::renewed const& what) const {
        std::string out = "renewed";
        for (auto const& each : what.items) {
            using status = seam::renewal::status;
            if (each.found == status::alive) out += " [alive " + grant(each.held) + "]";
            if (each.found == status::waiting) out += " [waiting " + when(each.blocked_for) + "]";
            if (each.found == status::gone) out += " [gone]";
            if (each.found == status::unknown) out += " [unknown]";
        }
        return out;
    }
    std::string operator()(seam::converted const& what) const {
        return "converted " + grant(what.held);
    }
    std::string operator()(seam::adjusted const& what) const {
        return "adjusted " + std::to_string(what.declared) + " " + std::to_string(what.current) +
               " " + std::to_string(what.used);
    }
    std::string operator()(seam::cell const& what) const { return "cell " + cell(what); }
    std::string operator()(seam::swapped const& what) const {
        return "swapped " + names.of(what.version);
    }
    std::string operator()(seam::conflict const& what) const {
        return "conflict " + cell(what.current) + (what.guard_failed ? " unguarded" : "");
    }
    std::string operator()(seam::page const& what) const {
        std::string out = "page";
        for (auto const& each : what.names)
            out += " {" + each.name + " " + to_string(each.kind) + " limit " +
                   std::to_string(each.limit) + " cell '" + each.cell + "' held" +
                   claims(each.holders) + " waited for" + claims(each.waiters) + "}";
        return out;
    }
    std::string operator()(seam::evicted const& what) const {
        return "evicted " + std::to_string(what.count);
    }
};

struct in_requests {
    std::string operator()(seam::hello const&) const { return "hello"; }
    std::string operator()(seam::submit const& what) const {
        return "submit " + text(what.subject) + (what.queue ? " queue" : "") +
               (what.ballot == seam::sequence{}
                    ? ""
                    : " ballot " +
                          std::to_string(static_cast<std::uint64_t>(what.ballot) - ballots_from)) +
               (what.repairs ? " repairs" : "");
    }
    std::string operator()(seam::settle const& what) const {
        return "settle " + text(what.subject) + " keep " + text(what.keep_for) +
               (what.consume ? " consume" : "");
    }
    std::string operator()(seam::renew const& what) const {
        std::string out = "renew";
        for (auto const& each : what.items)
            out += " [" + text(each.subject) + " for " + text(each.lease) + "]";
        return out;
    }
    std::string operator()(seam::convert const& what) const {
        return "convert " + text(what.subject) + " to mode " +
               std::to_string(static_cast<int>(what.mode)) + " " + std::to_string(what.permits);
    }
    std::string operator()(seam::adjust const& what) const {
        return "adjust " + text(what.subject) + " wake " + std::to_string(what.wake);
    }
    std::string operator()(seam::read const& what) const { return "read " + text(what.key); }
    std::string operator()(seam::swap const& what) const {
        return "swap " + text(what.key) + (what.remove ? " remove" : "") +
               (what.guard ? " guarded by " + text(*what.guard) : "");
    }
    std::string operator()(seam::watch const& what) const { return "watch " + text(what.key); }
    std::string operator()(seam::unwatch const& what) const { return "unwatch " + text(what.key); }
    std::string operator()(seam::inspect const& what) const { return "inspect " + what.prefix; }
    std::string operator()(seam::evict const& what) const { return "evict " + what.name; }
};

struct in_notices {
    sequence_names& names;

    std::string operator()(seam::claim_granted const& what) const {
        return "granted " + seam::to_string(what.id) + " " + in_replies{names}.grant(what.held);
    }
    std::string operator()(seam::claim_gone const& what) const {
        return "gone " + seam::to_string(what.id) + " " + what.why;
    }
    std::string operator()(seam::name_contended const& what) const {
        return "contended " + seam::to_string(what.id);
    }
    std::string operator()(seam::changed const& what) const { return "changed " + text(what.key); }
    std::string operator()(seam::session_changed const&) const { return "session"; }
};

}  // namespace

std::string describe(seam::request const& what) { return std::visit(in_requests{}, what); }

std::string describe(seam::reply_body const& body, sequence_names& names, bool timed) {
    return std::visit(in_replies{names, timed}, body);
}

std::string describe(seam::notice const& what, sequence_names& names) {
    return std::visit(in_notices{names}, what);
}

}  // namespace holdfast::oracle
