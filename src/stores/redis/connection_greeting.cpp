// How a connection becomes ready: its greeting goes out, and is answered.
#include <utility>

#include "net/stream.hpp"
#include "stores/redis/connection.hpp"
#include "stores/redis/fault.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

void connection::greet(base::instant now) {
    at_ = phase::greeting;
    parser_ = std::make_unique<answer_parser>();
    for (auto& [what, meaning] : greeting_.begin(*to_))
        send_alone({.what = std::move(what), .give_up = now + to_->timeout, .meaning = meaning});
    if (greeting_.is_over()) become_ready(now);
    flush(now);
}

void connection::take_greeting(question const& asked, answer const& what, base::instant now) {
    using purpose = question::purpose;
    auto const words = what.error_words();
    if (asked.meaning == purpose::inventory) scripts_.take_inventory(to_->layout, what);
    if (asked.meaning == purpose::script) scripts_.on_loaded(*asked.what.calls(), words);
    if (asked.what.calls() == &scripts::many && is_lasting(words)) gathering_.switch_off();
    if (greeting_.take(asked.meaning, what, *to_)) become_ready(now);
}

void connection::become_ready(base::instant now) {
    at_ = phase::ready;
    pause_.become_ready(now);
    watcher_.on_open();
    for (auto& each : std::exchange(held_, {})) {
        each.give_up = now + to_->timeout;
        put(std::move(each), now);
    }
}

}  // namespace holdfast::stores::redis
