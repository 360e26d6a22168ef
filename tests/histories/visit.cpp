#include "histories/visit.hpp"

#include <chrono>

#include "support/eventually.hpp"

namespace holdfast::histories {

namespace {

/// Within which lost() fires, on a busy machine.
constexpr std::chrono::seconds told_bound{10};

}  // namespace

hold_view hold_view::of(lease const& held) {
    return {[&held] { return held.held(); },
            [&held] { return held.remaining().count() * millisecond; },
            [told = held.lost()] { return told.stop_requested(); }};
}

hold_view hold_view::of(basic_mutex const& held) {
    return {[&held] { return held.owns(); }, [] { return instant{0}; },
            [told = held.lost()] { return told.stop_requested(); }};
}

outcome outcome_of(release_outcome said) {
    switch (said) {
    case release_outcome::released: return outcome::released;
    case release_outcome::already_lost: return outcome::already_lost;
    case release_outcome::unknown: return outcome::unknown;
    }
    return outcome::none;
}

visit::visit(recorder& record, archive const& files, plan const& plan,
             std::vector<std::string> names, mode how, std::int64_t permits)
    : record_{record},
      files_{files},
      plan_{plan},
      names_{std::move(names)},
      mode_{how},
      permits_{permits},
      call_{record.new_call()} {}

event visit::make(kind of, std::size_t name) const {
    event out;
    out.kind = of;
    out.call = call_;
    out.mode = mode_;
    out.set_name(names_[name]);
    if (!tokens_.empty()) out.token = tokens_[name];
    return out;
}

void visit::append_all(kind of, instant before, instant after, std::int64_t number) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
        auto one = make(of, i);
        one.before = before;
        one.after = after;
        one.number = number;
        record_.append(one);
    }
}

void visit::asked() {
    asked_ = boot_time();
    append_all(kind::asked, asked_, 0, permits_);
}

void visit::granted(std::function<std::uint64_t(std::string const&)> const& token) {
    auto const after = boot_time();
    for (auto const& name : names_)
        tokens_.push_back(token(name));
    append_all(kind::granted, asked_, after, permits_);
    record_.advance();
}

void visit::refused(std::string_view why) {
    auto one = make(kind::refused, 0);
    one.before = asked_;
    one.after = boot_time();
    one.set_note(why);
    record_.append(one);
}

register_user visit::user(std::size_t name) const {
    return {record_.who().worker, record_.who().incarnation,
            record_.who().party,  call_,
            tokens_[name],        mode_};
}

fenced_register visit::register_of(std::size_t name) const {
    return fenced_register{files_.register_of(names_[name]), plan_.crew != crew::careless};
}

bool visit::enter(hold_view const& held) {
    if (!look(held)) return false;
    for (std::size_t i = 0; has_registers() && i < names_.size(); ++i) {
        auto const value = register_of(i).read(user(i));
        if (!value) return false;
        values_.push_back(*value);
    }
    return true;
}

bool visit::look(hold_view const& held) {
    if (plan_.crew == crew::careless) return true;
    auto const told = held.told();
    auto const before = boot_time();
    auto const left = held.remaining();
    bool const is_held = held.held();
    append_all(is_held ? kind::believed : kind::disbelieved, before, boot_time(), left);
    if (is_held && told) contradiction("lost() has fired, and held() says true");
    if (!is_held && !support::eventually(held.told, told_bound))
        contradiction("held() has said false for a long time, and lost() has not fired");
    return is_held;
}

void visit::contradiction(char const* what) {
    auto one = make(kind::contradiction, 0);
    one.before = one.after = boot_time();
    one.set_note(what);
    record_.append(one);
}

void visit::leave(hold_view const& held, bool looks) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        // Each write is judged by the register: between the look and the write anything may happen.
        if (looks && !look(held)) return;
        auto const target = register_of(i);
        if (mode_ == mode::shared)
            (void)target.read(user(i));
        else
            (void)target.write(user(i), values_[i] + 1, values_[i]);
    }
    (void)look(held);
}

bool visit::write(std::int64_t value) {
    return register_of(0).write(user(0), value, values_.front());
}

void visit::weakening() {
    append_all(kind::weakened, boot_time(), 0, 0);
    mode_ = mode::shared;
}

void visit::weakened() { append_all(kind::weakened, boot_time(), boot_time(), 0); }

void visit::releasing(hold_view const& held) {
    release_began_ = boot_time();
    append_all(kind::releasing, release_began_, 0,
               plan_.crew == crew::careless ? 0 : held.remaining());
}

void visit::released(outcome said) {
    auto const after = boot_time();
    for (std::size_t i = 0; i < names_.size(); ++i) {
        auto one = make(kind::released, i);
        one.before = release_began_;
        one.after = after;
        one.outcome = said;
        record_.append(one);
    }
}

}  // namespace holdfast::histories
