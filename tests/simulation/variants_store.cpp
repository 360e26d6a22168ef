// Stores that break the rules of the synchronizers, one rule each.
#include "simulation/variants_store.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulation/forwarding_ledger.hpp"
#include "simulation/odd_store.hpp"

namespace holdfast::simulation {

namespace {

using stores::lease::entry;
using stores::lease::name_record;
using stores::lease::rules;

seam::claim const* wanted_in(seam::request const& what) {
    auto const* const submit = std::get_if<seam::submit>(&what);
    return submit == nullptr ? nullptr : &submit->subject;
}

// --- claims ------------------------------------------------------------------------------------

// A reader comes in beside a writer.
class reader_beside_writer final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        auto const* const wanted = wanted_in(what);
        bool const reads = wanted != nullptr && wanted->spec->mode == claim_mode::shared;
        if (auto* const record = reads ? find(*wanted->spec) : nullptr) record->shared = true;
        return by.handle(what);
    }
};

// Readers come in past a writer who waits: there may always be one more.
class readers_first final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        auto const* const wanted = wanted_in(what);
        bool const reads = wanted != nullptr && wanted->spec->mode == claim_mode::shared;
        auto* const record = reads ? find(*wanted->spec) : nullptr;
        if (record == nullptr || !record->shared || record->holders == 0 ||
            ledger_.find(*record, wanted->id) != nullptr)
            return by.handle(what);
        auto const waiting = std::exchange(record->waiters, 0);
        auto const fair = std::exchange(record->fair_waiters, 0);
        auto out = by.handle(what);
        record->waiters += waiting;
        record->fair_waiters += fair;
        return out;
    }
};

// From writer to reader by letting go and coming again.
class gap_in_downgrade final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        auto const* const convert = std::get_if<seam::convert>(&what);
        if (convert == nullptr || convert->mode != claim_mode::shared) return by.handle(what);
        seam::settle end;
        end.subject = convert->subject;
        (void)by.handle(end);
        auto reading = *convert->subject.spec;
        reading.mode = claim_mode::shared;
        seam::submit again{{}, true, seam::store_time::max()};
        again.subject = convert->subject;
        again.subject.spec = std::make_shared<seam::claim_spec const>(std::move(reading));
        (void)by.handle(again);
        return seam::converted{};
    }
};

// However many permits a claim has, it counts as one.
class counts_claims final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        auto const* const wanted = wanted_in(what);
        bool const permits = wanted != nullptr && wanted->spec->kind == lock_kind::semaphore;
        auto* const record = permits ? find(*wanted->spec) : nullptr;
        if (record == nullptr) return by.handle(what);
        auto const hidden = record->used - std::min(record->used, record->holders);
        record->used -= hidden;
        auto out = by.handle(what);
        record->used += hidden;
        return out;
    }
};

// Gives as many permits as there are, where more were asked for.
class gives_some final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        auto* const submit = std::get_if<seam::submit>(&what);
        if (submit == nullptr || submit->subject.spec->permits < 2) return by.handle(what);
        auto& wanted = submit->subject;
        auto* const record = find(*wanted.spec);
        if (record == nullptr || record->used >= record->current) return by.handle(what);
        auto fewer = *wanted.spec;
        fewer.permits = std::min(fewer.permits, record->current - record->used);
        wanted.spec = std::make_shared<seam::claim_spec const>(std::move(fewer));
        return by.handle(what);
    }
};

// Whoever came last is served first.
class last_first final : public odd_store {
    using odd_store::odd_store;
    struct backwards final : forwarding_ledger {
        using forwarding_ledger::forwarding_ledger;
        entry* first_waiter(record& of) override {
            seam::claim_id last{};
            to_.each_waiter(of, [&](entry const& each) { last = each.subject.id; });
            return of.waiters == 0 ? nullptr : to_.find(of, last);
        }
    };
    stores::lease::ledger& ledger() override { return backwards_; }
    backwards backwards_{ledger_};
};

// The permits of the dead do not come back.
class drops_permits final : public odd_store {
    using odd_store::odd_store;
    struct greedy final : forwarding_ledger {
        using forwarding_ledger::forwarding_ledger;
        void remove(record& of, entry& ended) override {
            if (ended.held && ended.mode == claim_mode::permits && ended.expires <= now)
                of.used += ended.permits;
            to_.remove(of, ended);
        }
        seam::store_time now{};
    };
    stores::lease::ledger& ledger() override {
        greedy_.now = now_;
        return greedy_;
    }
    greedy greedy_{ledger_};
};

// A second leader beside the first.
class two_leaders final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        auto const* const wanted = wanted_in(what);
        bool const runs = wanted != nullptr && wanted->spec->kind == lock_kind::election;
        auto* const record = runs ? find(*wanted->spec) : nullptr;
        if (record == nullptr || record->holders == 0 || record->waiters > 0 ||
            ledger_.find(*record, wanted->id) != nullptr ||
            (wanted->id.number >> seam::claim_id::index_bits) % 8 != 0)
            return by.handle(what);
        auto const leaders = std::exchange(record->holders, 0);
        auto out = by.handle(what);
        record->holders += leaders;
        return out;
    }
};

// Lists what was so a while ago, now and then.
class stale_listing final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        auto const* const asked = std::get_if<seam::inspect>(&what);
        auto out = by.handle(what);
        auto* const page = asked == nullptr ? nullptr : std::get_if<seam::page>(&out);
        if (page == nullptr) return out;
        auto& earlier = pages_[asked->prefix];
        earlier.push_back(*page);
        if (earlier.size() % 5 == 0) *page = earlier[earlier.size() - 4];
        return out;
    }
    std::map<std::string, std::vector<seam::page>> pages_;
};

// --- conditions --------------------------------------------------------------------------------

// A notice whose waiter died, or went away, is gone with it.
class forgets_notices final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        if (auto* const settle = std::get_if<seam::settle>(&what);
            settle != nullptr && settle->subject.spec->kind == lock_kind::condition)
            settle->consume = true;
        return by.handle(what);
    }
};

// --- cells -------------------------------------------------------------------------------------

// Writes over whatever there is: the version does not count.
template <lock_kind Kind>
class ignores_version final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        auto* const swap = std::get_if<seam::swap>(&what);
        if (swap != nullptr && swap->key.kind == Kind)
            if (auto const* const cell = ledger_.find_cell(swap->key))
                swap->expected = cell->version;
        return by.handle(what);
    }
};

// Does not know again what it has carried out already, neither by the cell's last operation nor by
// those in the value.
class forgets_operations final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        auto const* const swap = std::get_if<seam::swap>(&what);
        if (swap == nullptr || swap->key.kind != lock_kind::latch) return by.handle(what);
        if (auto* const cell = ledger_.find_cell(swap->key)) cell->operation = {};
        auto out = by.handle(what);
        if (auto* const no = std::get_if<seam::conflict>(&out)) {
            // declared, left, changes, round, ended, cut short, deleted, operations
            auto& value = no->current.value;
            auto end = value.find(' ');
            for (int i = 0; i < 6 && end != std::string::npos; ++i)
                end = value.find(' ', end + 1);
            if (end != std::string::npos) value.resize(end);
        }
        return out;
    }
};

// Does not remember that a round of a latch came to its end: word 5 of its value.
class forgets_rounds final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        auto* const swap = std::get_if<seam::swap>(&what);
        if (swap != nullptr && swap->key.kind == lock_kind::latch) {
            std::size_t begin = 0;
            for (int i = 0; i < 4; ++i)
                begin = swap->value.find(' ', begin) + 1;
            swap->value.replace(begin, swap->value.find(' ', begin) - begin, "0");
        }
        return by.handle(what);
    }
};

// Counts whoever says that it is there.
class ignores_guard final : public odd_store {
    using odd_store::odd_store;
    seam::reply_body carry_out(rules& by, seam::request what) override {
        if (auto* const swap = std::get_if<seam::swap>(&what)) swap->guard.reset();
        return by.handle(what);
    }
};

template <class Store>
broken_variant odd(char const* name, theme about, std::vector<std::string_view> seen_by) {
    variant out{.name = name};
    out.store = [](std::uint64_t first) { return std::make_unique<Store>(first); };
    return {std::move(out), std::move(seen_by), about};
}

}  // namespace

std::vector<broken_variant> odd_stores() {
    using enum theme;
    return {
        odd<reader_beside_writer>("reader-beside-writer", readers, {"exclusion", "early loss"}),
        odd<readers_first>("readers-first", readers, {"order"}),
        odd<gap_in_downgrade>("gap-in-downgrade", readers, {"early loss", "witness", "exclusion"}),
        odd<counts_claims>("counts-claims-not-permits", permits, {"permits"}),
        odd<gives_some>("gives-some-permits", permits, {"permits"}),
        odd<drops_permits>("permits-die-with-their-holder", permits, {"progress"}),
        odd<last_first>("last-come-first-served", fair, {"order"}),
        odd<two_leaders>("two-leaders", election, {"exclusion", "election", "early loss"}),
        odd<stale_listing>("stale-listing", election, {"election"}),
        odd<forgets_notices>("notice-dies-with-its-waiter", condition, {"condition"}),
        odd<ignores_version<lock_kind::latch>>("latch-ignores-version", latch, {"latch"}),
        odd<forgets_operations>("latch-forgets-operations", latch, {"latch"}),
        odd<forgets_rounds>("latch-forgets-rounds", latch, {"latch"}),
        odd<ignores_version<lock_kind::barrier>>("barrier-ignores-version", barrier, {"barrier"}),
        odd<ignores_guard>("barrier-ignores-guard", barrier, {"barrier"}),
    };
}

}  // namespace holdfast::simulation
