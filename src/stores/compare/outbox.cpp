#include "stores/compare/outbox.hpp"

#include "stores/compare/store_times.hpp"

namespace holdfast::stores::compare {

namespace {

template <class... Types>
struct overloaded : Types... {
    using Types::operator()...;
};
template <class... Types>
overloaded(Types...) -> overloaded<Types...>;

}  // namespace

void outbox::add(told what) { waiting_.push_back(std::move(what)); }

void outbox::tell(ticket which, outcome what, reading when) {
    add(told_outcome{which, std::move(what), when});
}

void outbox::letter(session_id to, std::string body, stamp written) {
    add(told_letter{to, std::move(body), written});
}

void outbox::gap() { add(told_gap{}); }
void outbox::doubt(std::string why) { add(told_doubt{std::move(why)}); }
void outbox::changed(name_key key) { add(told_change{std::move(key)}); }
void outbox::session_end(session_id which) { add(told_session_end{which}); }
void outbox::log(log_level level, std::string text) { add(told_words{level, std::move(text)}); }

void outbox::tell(ticket which, outcome what) {
    tell(which, std::move(what), {.now = store_time_of(base::boot_clock::now())});
}

void outbox::fail(ticket which, base::error why, bool certain) {
    certain ? tell(which, rejected{std::move(why)}, {}) : tell(which, unknown{std::move(why)}, {});
}

void pass_on(std::vector<outbox::told>&& all, driver_events& events, log_function const& log) {
    for (auto& each : all)
        std::visit(overloaded{
                       [&](outbox::told_outcome& of) {
                           events.on_outcome(of.which, std::move(of.what), of.when);
                       },
                       [&](outbox::told_letter& of) {
                           events.on_letter(of.to, std::move(of.body), of.written);
                       },
                       [&](outbox::told_gap&) { events.on_gap(); },
                       [&](outbox::told_doubt& of) { events.on_doubt(std::move(of.why)); },
                       [&](outbox::told_change& of) { events.on_changed(std::move(of.key)); },
                       [&](outbox::told_session_end& of) { events.on_session_end(of.which); },
                       [&](outbox::told_words& of) { log(of.level, std::move(of.text)); },
                   },
                   each);
}

}  // namespace holdfast::stores::compare
