#include "compare/client.hpp"

#include <algorithm>
#include <array>

#include "base/clock.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;

client::client(maker const& make) : driver_{make(*this)} {}

client::~client() {
    driver_->shut();
    driver_.reset();
}

bool client::drive_until(std::function<bool()> const& met, std::chrono::milliseconds bound) {
    base::instant const end = base::after(base::boot_clock::now(), bound);
    while (!met()) {
        base::instant const now = base::boot_clock::now();
        if (now >= end) return met();
        driver_->drive(std::min(end, base::after(now, std::chrono::milliseconds{50})));
    }
    return true;
}

void client::drive_for(std::chrono::milliseconds span) {
    (void)drive_until([] { return false; }, span);
}

outcome client::outcome_of(ticket which) {
    if (!drive_until([&] { return answered(which); })) {
        ADD_FAILURE() << "a call got no outcome";
        return unknown{};
    }
    when_ = outcomes_.at(which).second;
    return outcomes_.at(which).first;
}

void client::on_outcome(ticket which, outcome what, reading when) {
    bool const first = outcomes_.try_emplace(which, std::move(what), when).second;
    EXPECT_TRUE(first) << "a call got two outcomes";
    EXPECT_LE(static_cast<std::uint64_t>(which), last_ticket_) << "an outcome of no call";
}

void client::on_letter(session_id to, std::string body, stamp written) {
    letters.push_back({to, std::move(body), written});
}

void client::on_doubt(std::string why) {
    EXPECT_FALSE(why.empty());
    ++doubts;
}

outcome client::open(session_id id, std::chrono::milliseconds lease, std::string body) {
    ticket const which = next_ticket();
    driver_->open(which, id, lease, std::move(body));
    return outcome_of(which);
}

outcome client::keep(std::vector<session_id> ids) {
    ticket const which = next_ticket();
    driver_->keep(which, std::move(ids));
    return outcome_of(which);
}

outcome client::raise(session_id id) {
    ticket const which = next_ticket();
    driver_->raise(which, id);
    return outcome_of(which);
}

outcome client::commit(step what) {
    ticket const which = next_ticket();
    driver_->commit(which, std::move(what));
    return outcome_of(which);
}

outcome client::watch(name_key const& key) {
    ticket const which = next_ticket();
    driver_->watch(which, key);
    return outcome_of(which);
}

outcome client::fetch(query what) {
    ticket const which = next_ticket();
    driver_->fetch(which, std::move(what));
    return outcome_of(which);
}

outcome client::list(listing what) {
    ticket const which = next_ticket();
    driver_->list(which, std::move(what));
    return outcome_of(which);
}

view client::look(name_query what) {
    name_key const key = what.key;
    auto found = expect<views>(fetch({{std::move(what)}})).found;
    if (found.size() != 1) {
        ADD_FAILURE() << "one name was asked for, and " << found.size() << " were told";
        return {};
    }
    EXPECT_EQ(found.front().key, key);
    return std::move(found.front());
}

long client::changes_of(name_key const& key) const { return std::ranges::count(changes, key); }

long client::ends_of(session_id id) const { return std::ranges::count(ends, id); }

std::string words_of(outcome const& what) {
    static constexpr std::array kinds{"rejected", "unknown", "committed", "missed",
                                      "fenced",   "views",   "names",     "opened",
                                      "kept",     "raised",  "in force"};
    static_assert(kinds.size() == std::variant_size_v<outcome>);
    std::string out = kinds.at(what.index());
    if (auto const* const no = std::get_if<rejected>(&what)) out += " (" + no->error.text + ")";
    if (auto const* const open = std::get_if<unknown>(&what)) out += " (" + open->error.text + ")";
    return out;
}

}  // namespace holdfast::driver_tests
