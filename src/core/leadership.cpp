#include "core/leadership.hpp"

#include <utility>

#include "core/task_context.hpp"

namespace holdfast::core {

namespace {

seam::inspect who_leads(std::string const& name) {
    seam::inspect out{name};
    out.exact = true;
    return out;
}

}  // namespace

std::optional<leader_info> leader_in(seam::page const& page) {
    for (auto const& name : page.names)
        if (name.kind == lock_kind::election && !name.holders.empty())
            return leader_info{name.holders.front().value, name.holders.front().token};
    return std::nullopt;
}

task observe_leader(task_context& on, std::string name,
                    std::function<void(std::optional<leader_info> const&)> hear) {
    seam::cell_key const key{lock_kind::election, name, seam::holders_part};
    std::optional<std::optional<leader_info>> told;
    for (;;) {
        auto watching = on.watch(key);
        auto const seen = on.changes(key);
        try {
            co_await watching;
            auto who = who_leads(name);
            auto const answer = co_await on.ask(std::move(who));
            if (auto const* const page = std::get_if<seam::page>(&answer)) {
                auto const leader = leader_in(*page);
                if (!told || *told != leader) on.post([hear, leader] { hear(leader); });
                told = leader;
            }
        } catch (std::system_error const& failure) {
            if (failure.code() == make_error_code(errc::closed) ||
                failure.code() == make_error_code(errc::unsupported))
                co_return;
        }
        co_await on.change(key, seen, slow_poll);
    }
}

}  // namespace holdfast::core
