#include "run/narrator.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "duration.hpp"

namespace holdfast::cli {

namespace {
using namespace std::chrono_literals;
constexpr auto first_after = 300ms;  // a wait that is over by then is not worth a word
constexpr auto again_after = 1s;
}  // namespace

std::string describe_holder(client& client, std::string const& name) try {
    for (auto const& lock : client.locks(name)) {
        if (lock.name != name || lock.holders.empty()) continue;
        auto const& first = lock.holders.front();
        auto const* const does = lock.kind == lock_kind::election ? "led" : "held";
        auto text = fmt::format("{} by {}:{}", does, first.host, first.pid);
        if (!first.label.empty()) text += fmt::format(" ({})", first.label);
        text += " for " + short_duration(first.age);
        if (lock.holders.size() > 1) text += fmt::format(" and {} others", lock.holders.size() - 1);
        if (lock.waiters.size() > 1) text += fmt::format("; {} wait", lock.waiters.size());
        return text;
    }
    return {};
} catch (std::exception const&) {
    return {};  // only a courtesy: the wait itself tells what is wrong with the store
}

narrator::narrator(client& client, std::string name, link& line)
    : client_{client}, name_{std::move(name)}, line_{line}, thread_{[this](std::stop_token over) {
          tell(std::move(over));
      }} {}

void narrator::tell(std::stop_token over) {
    base::unique_lock lock{mutex_};
    auto delay = std::chrono::milliseconds{first_after};
    while (!wake_.wait_for(lock, over, delay, [&] { return over.stop_requested(); })) {
        auto const who = describe_holder(client_, name_);
        auto const text =
            who.empty() ? "waiting for " + name_ : "waiting for " + name_ + ", " + who;
        if (!line_.send({message_kind::waiting, 0, text})) return;
        delay = again_after;
    }
}

}  // namespace holdfast::cli
