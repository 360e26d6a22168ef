#include "nesting.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "home.hpp"
#include "shell/rendezvous.hpp"

namespace holdfast::cli {

namespace {

bool is_held(run_plan const& plan, std::string const& token) {
    client client{plan.store, {.patience = plan.patience}};
    for (auto const& lock : client.locks(plan.name)) {
        if (lock.name != plan.name) continue;
        for (auto const& holder : lock.holders)
            if (std::to_string(holder.token) == token) return true;
    }
    return false;
}

}  // namespace

std::optional<std::string> find_outer_hold(run_plan const& plan) {
    if (environment("HOLDFAST_NAME") == plan.name && is_held(plan, environment("HOLDFAST_TOKEN")))
        return "the 'holdfast run' that this is a part of";
    // Its state does not matter: a hold that was lost is to be noticed, not taken again by a part of the script.
    if (ask_holder({::getppid(), plan.store, plan.name}, hold_request::check))
        return fmt::format("the calling shell (process {}), by 'holdfast lock'", ::getppid());
    return std::nullopt;
}

}  // namespace holdfast::cli
