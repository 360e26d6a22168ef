#include "stores/redis/script_cache.hpp"

#include <algorithm>
#include <span>

#include "stores/redis/fault.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

namespace {

constexpr script const* of_native[] = {&scripts::submit,  &scripts::settle,  &scripts::many,
                                       &scripts::renew,   &scripts::convert, &scripts::adjust,
                                       &scripts::read,    &scripts::swap,    &scripts::watch,
                                       &scripts::inspect, &scripts::waited,  &scripts::evict};

constexpr script const* of_plain[] = {&scripts::plain_acquire, &scripts::plain_release,
                                      &scripts::plain_renew, &scripts::plain_inspect,
                                      &scripts::plain_evict};

std::span<script const* const> scripts_of(layout_name which) noexcept {
    if (which == layout_name::plain) return of_plain;
    return of_native;
}

}  // namespace

command script_cache::inquiry(layout_name about) {
    command out{"SCRIPT"};
    out << "EXISTS";
    for (auto const* const each : scripts_of(about))
        out << each->sha;
    return out;
}

// A server may refuse to say, and what is in front of it may not know the word.
void script_cache::take_inventory(layout_name about, answer const& what) {
    auto const asked = scripts_of(about);
    auto const& items = what.items();  // the array, then a number for each
    if (items.size() != asked.size() + 1 || items.front().what != answer::kind::array) return;
    for (std::size_t i = 0; i < asked.size(); ++i)
        if (auto const& one = items[i + 1];
            one.what == answer::kind::integer && one.number == 1 && find(*asked[i]) == nullptr)
            known_.push_back({asked[i], state::there});
}

script_cache::entry const* script_cache::find(script const& what) const noexcept {
    auto const found = std::ranges::find(known_, &what, &entry::what);
    return found != known_.end() ? &*found : nullptr;
}

std::optional<command> script_cache::before(command const& call) {
    auto const* const what = call.calls();
    if (what == nullptr || find(*what) != nullptr) return std::nullopt;
    known_.push_back({what, state::on_its_way});
    command out{"SCRIPT"};
    out << "LOAD" << what->text;
    out.stands_for(*what);
    return out;
}

// Trouble that passes is met again by the call behind it.
void script_cache::on_loaded(script const& what, std::string_view words) {
    std::erase_if(known_, [&](entry const& each) { return each.what == &what; });
    if (words.empty()) {
        known_.push_back({&what, state::there});
    } else if (is_lasting(words)) {
        known_.push_back({&what, state::refused});
    }
}

void script_cache::on_missing() noexcept {
    std::erase_if(known_, [](entry const& each) { return each.is == state::there; });
}

bool script_cache::is_refused(script const& what) const noexcept {
    auto const* const found = find(what);
    return found != nullptr && found->is == state::refused;
}

}  // namespace holdfast::stores::redis
