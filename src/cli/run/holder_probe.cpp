#include "run/holder_probe.hpp"

#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "duration.hpp"

namespace holdfast::cli {

std::string describe_holder(client& client, std::string const& name) try {
    for (auto const& lock : client.locks(name)) {
        if (lock.name != name || lock.holders.empty()) continue;
        auto const& first = lock.holders.front();
        auto const* const does = lock.kind == lock_kind::election ? "led" : "held";
        // A store of somebody else's layout may not say where a holder is, nor since when.
        auto text = first.host.empty() ? fmt::format("{} by {}", does, first.owner)
                                       : fmt::format("{} by {}:{}", does, first.host, first.pid);
        if (!first.label.empty()) text += fmt::format(" ({})", first.label);
        if (!first.host.empty()) text += " for " + short_duration(first.age);
        if (lock.holders.size() > 1) text += fmt::format(" and {} others", lock.holders.size() - 1);
        if (lock.waiters.size() > 1) text += fmt::format("; {} wait", lock.waiters.size());
        return text;
    }
    return {};
} catch (std::exception const&) {
    return {};  // only a courtesy: the wait itself tells what is wrong with the store
}

holder_probe::holder_probe(client const& client, std::string const& name, store_silence silence)
    : silence_{std::move(silence)} {
    std::thread{[asking = client, name, answer = answer_]() mutable {
        auto text = describe_holder(asking, name);
        base::lock_guard const guard{answer->mutex};
        answer->text = std::move(text);
        answer->given.notify_all();
    }}.detach();
}

std::optional<std::string> holder_probe::wait(std::stop_token const& over) {
    using namespace std::chrono_literals;
    base::unique_lock lock{answer_->mutex};
    answer_->given.wait_for(lock, over, 200ms, [this] {
        answer_->mutex.assert_held();
        return answer_->text.has_value();
    });
    return answer_->text;
}

}  // namespace holdfast::cli
