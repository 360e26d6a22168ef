#include "runtime/sender.hpp"

#include <utility>

#include "core/engine_visit.hpp"

namespace holdfast::runtime {

using base::boot_clock;

sender::sender(seam::store& store, core::engine& engine)
    : store_{store},
      engine_{engine},
      instant_{engine.abilities().instant},
      prompt_{engine.abilities().prompt} {}

void sender::send_some(base::mutex& held) {
    if (instant_) return send_instantly(boot_clock::now());
    if (prompt_) return send_batches(held);
    send_one(held);
}

void sender::send_until(base::mutex& held, bool const& done) {
    if (prompt_) return send_batches(held);
    while (has_work() && !done)
        send_some(held);
}

bool sender::send_at_once(base::mutex& held, base::instant now) {
    if (!has_work()) return true;
    if (instant_) send_instantly(now);
    if (prompt_) send_batches(held);
    return never_blocks();
}

void sender::send_one(base::mutex& held) {
    sending_ = true;
    auto next = engine_.todo().requests.pop();
    std::optional<seam::reply> answer;
    {
        base::unlocked const meanwhile{held};
        answer = store_.send(next.id, std::move(next.what));
    }
    sending_ = false;
    if (answer) core::engine_visit {
            engine_
            } -> on_reply(next.id, *answer, boot_clock::now());
}

// To a store that takes requests without delay, whoever is at hand sends all there are.
void sender::send_batches(base::mutex& held) {
    while (has_work() && !stopped_) {
        sending_ = true;
        engine_.todo().requests.pop_all(batch_);
        std::vector<std::pair<seam::request_id, seam::reply>> answers;
        {
            base::unlocked const meanwhile{held};
            for (auto& [id, what] : batch_)
                if (auto answer = store_.send(id, std::move(what)))
                    answers.emplace_back(id, std::move(*answer));
        }
        batch_.clear();
        sending_ = false;
        for (auto const& [id, answer] : answers)
            core::engine_visit { engine_ } -> on_reply(id, answer, boot_clock::now());
    }
}

void sender::send_instantly(base::instant now) {
    while (!engine_.todo().requests.empty()) {
        engine_.todo().requests.pop_all(batch_);
        for (auto& [id, what] : batch_)
            if (auto const answer = store_.send(id, std::move(what))) core::engine_visit {
                    engine_
                    } -> on_reply(id, *answer, now);
        batch_.clear();
    }
}

}  // namespace holdfast::runtime
