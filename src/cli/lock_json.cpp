#include <nlohmann/json.hpp>

#include "lock_text.hpp"

namespace holdfast::cli {

namespace {

using json = nlohmann::ordered_json;

json to_json(claim_info const& claim) {
    return {{"token", std::to_string(claim.token)},
            {"mode", to_string(claim.mode)},
            {"permits", claim.permits},
            {"owner", claim.owner},
            {"label", claim.label},
            {"host", claim.host},
            {"pid", claim.pid},
            {"age_ms", claim.age.count()},
            {"lease_left_ms", claim.lease_left.count()},
            {"id", claim.id},
            {"local", claim.local}};
}

json to_json(std::vector<claim_info> const& claims, lock_kind kind) {
    json out = json::array();
    for (auto const& claim : claims) {
        out.push_back(to_json(claim));
        if (kind == lock_kind::election) out.back()["value"] = claim.value;
        if (claim.kept) out.back()["kept"] = true;
    }
    return out;
}

json to_json(lock_info const& lock) {
    json out{{"name", lock.name},
             {"kind", to_string(lock.kind)},
             {"holders", to_json(lock.holders, lock.kind)},
             {"waiters", to_json(lock.waiters, lock.kind)}};
    bool const is_barrier = lock.kind == lock_kind::barrier;
    bool const counts = is_barrier || lock.kind == lock_kind::latch;
    if (counts || lock.kind == lock_kind::semaphore) out["limit"] = lock.limit;
    if (counts) out["count"] = lock.count;
    if (is_barrier) out["generation"] = lock.generation;
    if (is_barrier) out["broken"] = lock.broken;
    return out;
}

// Labels come from everywhere; what is not UTF-8 must not keep the rest from being shown.
std::string text(json const& value) {
    return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string json_of(std::vector<lock_info> const& locks) {
    json out = json::array();
    for (auto const& lock : locks)
        out.push_back(to_json(lock));
    return text(out);
}

std::string json_of(std::vector<std::vector<deadlock_step>> const& cycles) {
    json out = json::array();
    for (auto const& cycle : cycles) {
        json steps = json::array();
        for (auto const& step : cycle)
            steps.push_back({{"name", step.name}, {"waiter", to_json(step.waiter)}});
        out.push_back(std::move(steps));
    }
    return text(out);
}

std::string json_of(lock_info const& lock) { return text(to_json(lock)); }

}  // namespace holdfast::cli
