// A store that is wrong on purpose: the rules over the books, with something between.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "stores/lease/rules.hpp"
#include "stores/memory/books.hpp"

namespace holdfast::simulation {

class odd_store {
public:
    explicit odd_store(std::uint64_t first) : books_{first} {}
    virtual ~odd_store() = default;

    [[nodiscard]] seam::reply handle(std::shared_ptr<seam::identity const> const& from,
                                     seam::request what, seam::store_time now,
                                     std::vector<stores::lease::directed_notice>& notices) {
        now_ = std::max(now_, now);
        stores::lease::rules rules{books(), now_, from, notices};
        return {now_, carry_out(rules, std::move(what))};
    }
    [[nodiscard]] std::size_t size() const noexcept { return books_.size(); }

protected:
    /// The product's way, to be changed.
    virtual seam::reply_body carry_out(stores::lease::rules& rules, seam::request what) {
        return rules.handle(what);
    }
    virtual stores::lease::ledger& books() { return books_; }

    [[nodiscard]] stores::lease::name_record* find(seam::claim_spec const& spec) {
        return books_.find(spec.name, spec.hash, spec.kind == lock_kind::condition);
    }

    stores::memory::books books_;
    seam::store_time now_{};
};

}  // namespace holdfast::simulation
