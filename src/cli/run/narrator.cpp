#include "run/narrator.hpp"

#include <chrono>
#include <utility>

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;
constexpr auto first_after = 300ms;  // a wait that is over by then is not worth a word
constexpr auto again_after = 1s;
constexpr auto line_after = 10s;

std::chrono::milliseconds limit_of(run_plan const& plan) {
    return plan.wait && plan.wait->count() > 0 ? *plan.wait : plan.patience;
}

}  // namespace

narrator::narrator(client& client, holder_task& task)
    : client_{client},
      task_{task},
      first_contact_{client, task.trouble, limit_of(task.plan)},
      thread_{[this](std::stop_token over) { tell(std::move(over)); }} {}

void narrator::tell(std::stop_token over) {
    base::unique_lock lock{mutex_};
    auto delay = std::chrono::milliseconds{first_after};
    while (!wake_.wait_for(lock, over, delay, [&] { return over.stop_requested(); })) {
        if (auto const message = next(over); message && !task_.channel.send(*message)) return;
        delay = again_after;
    }
}

std::optional<message> narrator::next(std::stop_token const& over) {
    // Until the store has answered once, a second question would only be one more that fails.
    if (first_contact_.is_first_contact()) return on_silence(first_contact_);
    auto const& name = task_.plan.name;
    if (!probe_)
        probe_.emplace(client_, name, store_silence{client_, task_.trouble, task_.plan.patience});
    auto const who = probe_->wait(over);
    if (!who) return on_silence(probe_->silence());
    probe_.reset();
    if (!task_.narrate) return {};
    return message{message_kind::waiting, 0,
                   who->empty() ? "waiting for " + name : "waiting for " + name + ", " + *who};
}

std::optional<message> narrator::on_silence(store_silence const& silence) {
    if (silence.age() < worth_telling) return {};
    if (task_.narrate) return message{message_kind::waiting, 0, silence.text()};
    auto const now = base::boot_clock::now();
    if (now < next_line_) return {};
    next_line_ = now + line_after;
    return message{message_kind::silent, 0, silence.text()};
}

}  // namespace holdfast::cli
