// A store that is wrong on purpose: the rules over the ledger, with something between.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "stores/lease/rules.hpp"
#include "stores/memory/memory_ledger.hpp"

namespace holdfast::simulation {

class odd_store {
public:
    explicit odd_store(std::uint64_t first) : ledger_{first} {}
    virtual ~odd_store() = default;

    [[nodiscard]] seam::reply handle(std::shared_ptr<seam::identity const> const& from,
                                     seam::request what, seam::store_time now,
                                     std::vector<stores::lease::directed_notice>& notices) {
        now_ = std::max(now_, now);
        stores::lease::rules rules{ledger(), now_, from, notices};
        return {now_, carry_out(rules, std::move(what))};
    }
    [[nodiscard]] std::size_t size() const noexcept { return ledger_.size(); }

protected:
    /// The product's way, to be changed.
    virtual seam::reply_body carry_out(stores::lease::rules& rules, seam::request what) {
        return rules.handle(what);
    }
    virtual stores::lease::ledger& ledger() { return ledger_; }

    [[nodiscard]] stores::lease::name_record* find(seam::claim_spec const& spec) {
        return ledger_.find(spec.name, spec.hash, spec.kind == lock_kind::condition);
    }

    stores::memory::memory_ledger ledger_;
    seam::store_time now_{};
};

}  // namespace holdfast::simulation
