#include "simulation/variants.hpp"

#include "simulation/witness.hpp"

namespace holdfast::simulation {

namespace {

struct deadline_from_receipt : core::judgement {
    base::instant deadline(core::clock_pair const& pair, seam::store_time,
                           std::chrono::milliseconds lease) const override {
        return pair.received + lease - margin(lease);
    }
};

struct error_ends_renewing : core::judgement {
    bool error_ends_renewal() const override { return true; }
};

struct same_token_at_pass : core::judgement {
    unsigned next_pass(unsigned pass) const override { return pass; }
};

struct no_not_after : core::judgement {
    seam::store_time not_after(core::clock_pair const&, base::instant) const override {
        return seam::store_time::max();
    }
};

struct no_margin : core::judgement {
    base::instant deadline(core::clock_pair const& pair, seam::store_time began,
                           std::chrono::milliseconds lease) const override {
        return core::judgement::deadline(pair, began, lease) + 2 * margin(lease);
    }
};

// Takes a release of what is no longer held as one of what is held now.
void release_for_anybody(witness const& seen, seam::store_time now, seam::request& what) {
    auto* const settle = std::get_if<seam::settle>(&what);
    if (settle == nullptr) return;
    auto& claim = settle->claims.front();
    if (seen.hold(claim.id) != nullptr || seen.waiting(claim.id)) return;
    for (auto const* const it : seen.holders(claim.name(), now))
        claim.id = it->id;
}

}  // namespace

std::vector<broken_variant> const& broken_variants() {
    static std::vector<broken_variant> const all = [] {
        std::vector<broken_variant> out;
        auto const add = [&](char const* name, auto judge, std::vector<std::string_view> seen_by) {
            out.push_back({{name, std::move(judge), {}}, std::move(seen_by)});
        };
        add("deadline-from-receipt", std::make_shared<deadline_from_receipt>(), {"early loss"});
        add("error-ends-renewal", std::make_shared<error_ends_renewing>(), {"persistence"});
        add("same-token-at-pass", std::make_shared<same_token_at_pass>(), {"fencing"});
        add("no-not-after", std::make_shared<no_not_after>(), {"leftovers"});
        add("no-margin", std::make_shared<no_margin>(), {"early loss"});
        out.push_back({{"release-for-anybody", {}, &release_for_anybody}, {"early loss"}});
        return out;
    }();
    return all;
}

std::optional<variant> find_variant(std::string_view name) {
    for (auto const& it : broken_variants())
        if (it.which.name == name) return it.which;
    return std::nullopt;
}

}  // namespace holdfast::simulation
