#include "stores/etcd/outbox.hpp"

namespace holdfast::stores::etcd {

namespace {

seam::store_time store_now() {
    return seam::store_time{std::chrono::duration_cast<std::chrono::microseconds>(
        base::boot_clock::now().time_since_epoch())};
}

template <class... Types>
struct overloaded : Types... {
    using Types::operator()...;
};
template <class... Types>
overloaded(Types...) -> overloaded<Types...>;

}  // namespace

void outbox::tell(told what) { waiting_.push_back(std::move(what)); }

void outbox::tell(compare::ticket which, compare::outcome what) {
    tell(told_outcome{which, std::move(what), {.now = store_now()}});
}

void outbox::tell(compare::ticket which, fault const& trouble) {
    if (trouble.certain) return tell(which, compare::rejected{trouble.error});
    tell(which, compare::unknown{trouble.error});
}

void pass_on(std::vector<outbox::told>&& all, compare::driver_events& events,
             log_function const& log) {
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
                       [&](outbox::told_words& of) { log(of.level, std::move(of.text)); },
                       [&](compare::name_key& of) { events.on_changed(std::move(of)); },
                       [&](compare::session_id& of) { events.on_session_end(of); },
                   },
                   each);
}

}  // namespace holdfast::stores::etcd
