// One client of a store that compares, for tests: it makes calls, drives, and keeps what it was told.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "stores/compare/driver.hpp"

namespace holdfast::driver_tests {

namespace compare = stores::compare;

/// Spent only when something is wrong.
inline constexpr std::chrono::seconds patience{30};

struct heard_letter {
    compare::session_id to{};
    std::string body;
    compare::stamp written{};
};

/// Thread-safety: none, unless it is said.
class client final : private compare::driver_events {
public:
    using maker = std::function<std::unique_ptr<compare::driver>(compare::driver_events& events)>;

    explicit client(maker const& make);
    ~client();
    client(client const&) = delete;
    client& operator=(client const&) = delete;

    [[nodiscard]] compare::driver& driver() noexcept { return *driver_; }

    /// Drives until it is so; false when it did not become so in time.
    [[nodiscard]] bool drive_until(std::function<bool()> const& met,
                                   std::chrono::milliseconds bound = patience);
    /// Drives for so long, whatever happens.
    void drive_for(std::chrono::milliseconds span);

    [[nodiscard]] compare::ticket next_ticket() { return compare::ticket{++last_ticket_}; }
    [[nodiscard]] bool answered(compare::ticket which) const { return outcomes_.contains(which); }
    /// The outcome of a call, waited for.
    [[nodiscard]] compare::outcome outcome_of(compare::ticket which);
    /// Of the last outcome that was waited for.
    [[nodiscard]] compare::reading when() const noexcept { return when_; }

    // The calls, each waited for.
    [[nodiscard]] compare::outcome open(compare::session_id id, std::chrono::milliseconds lease,
                                        std::string body = "who I am");
    [[nodiscard]] compare::outcome keep(std::vector<compare::session_id> ids);
    [[nodiscard]] compare::outcome raise(compare::session_id id);
    [[nodiscard]] compare::outcome commit(compare::step what);
    [[nodiscard]] compare::outcome watch(compare::name_key const& key);
    [[nodiscard]] compare::outcome fetch(compare::query what);
    [[nodiscard]] compare::outcome list(compare::listing what);
    /// One name, as it must be found.
    [[nodiscard]] compare::view look(compare::name_query what);

    // What was told.
    std::vector<heard_letter> letters;
    std::vector<compare::name_key> changes;
    std::vector<compare::session_id> ends;
    int gaps{0};
    int doubts{0};

    [[nodiscard]] long changes_of(compare::name_key const& key) const;
    [[nodiscard]] long ends_of(compare::session_id id) const;

private:
    void on_outcome(compare::ticket which, compare::outcome what, compare::reading when) override;
    void on_letter(compare::session_id to, std::string body, compare::stamp written) override;
    void on_gap() override { ++gaps; }
    void on_doubt(std::string why) override;
    void on_changed(compare::name_key key) override { changes.push_back(std::move(key)); }
    void on_session_end(compare::session_id which) override { ends.push_back(which); }

    std::uint64_t last_ticket_{0};
    std::map<compare::ticket, std::pair<compare::outcome, compare::reading>> outcomes_;
    compare::reading when_{};
    std::unique_ptr<compare::driver> driver_;
};

/// What kind of outcome it is, in words, with the error's text.
[[nodiscard]] std::string words_of(compare::outcome const& what);

/// The outcome as what it must be; anything else fails the test, in words.
template <class Kind>
[[nodiscard]] Kind expect(compare::outcome const& what) {
    if (auto const* const found = std::get_if<Kind>(&what)) return *found;
    ADD_FAILURE() << "the outcome is another one: " << words_of(what) << " instead of "
                  << words_of(compare::outcome{Kind{}});
    return Kind{};
}

}  // namespace holdfast::driver_tests
