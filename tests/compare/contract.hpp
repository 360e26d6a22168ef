// The contract of drivers: the same tests for every driver of the family.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "compare/client.hpp"

namespace holdfast::driver_tests {

/// One server and the drivers that reach it: what a driver brings to the suite. The server may be shared with other
/// tests: names and sessions are new in each of them.
class driver_under_test {
public:
    driver_under_test() = default;
    driver_under_test(driver_under_test const&) = delete;
    driver_under_test& operator=(driver_under_test const&) = delete;
    virtual ~driver_under_test() = default;

    /// The driver of a further client.
    [[nodiscard]] virtual std::unique_ptr<compare::driver> make(compare::driver_events& events) = 0;

    // What not every driver can be made to do; false: it cannot.

    /// Tells of letters and of changes of names; without that the family asks again.
    [[nodiscard]] virtual bool pushes() const { return true; }
    /// Whether the next one does anything.
    [[nodiscard]] virtual bool ends_sessions() const { return false; }
    /// Ends a session as an operator would, before its lease does.
    virtual void end_session(compare::session_id /*id*/) {}
    /// Steps of this driver stay on their way until they are let go; its other calls do not.
    [[nodiscard]] virtual bool hold_back_steps(compare::driver& /*which*/) { return false; }
    virtual void let_steps_go(compare::driver& /*which*/) {}
    /// Cuts the connection by which the driver hears.
    [[nodiscard]] virtual bool cut(compare::driver& /*which*/) { return false; }

    /// The lease of sessions that the tests let end by themselves.
    [[nodiscard]] virtual std::chrono::milliseconds short_lease() const {
        return std::chrono::seconds{1};
    }
    /// How often tests try what needs two at once to go wrong.
    [[nodiscard]] virtual int rounds() const { return 40; }
};

/// A row of the suite.
struct contract_case {
    std::string name;  ///< of letters, digits and underscores
    std::function<std::unique_ptr<driver_under_test>()> make;

    friend void PrintTo(contract_case const& row, std::ostream* out) { *out << row.name; }
};

/// Defined by each program that runs the suite.
[[nodiscard]] std::vector<contract_case> contract_cases();

/// A client with one session that lasts as long as the test.
class member {
public:
    explicit member(driver_under_test& store, compare::session_id id);
    /// The session ends with its client.
    ~member();

    [[nodiscard]] client* operator->() noexcept { return &client_; }
    [[nodiscard]] client& operator*() noexcept { return client_; }

    /// A step of this client on the name, without conditions but that there is no head.
    [[nodiscard]] compare::step on(compare::name_key const& key) const;
    /// A claim of this client; no two are the same.
    [[nodiscard]] compare::line_item claim(std::string body = "a claim");

    compare::session_id session{};
    compare::generation current{};

private:
    client client_;
    std::uint64_t last_claim_{0};
};

class driver_contract : public testing::TestWithParam<contract_case> {
protected:
    driver_contract();

    [[nodiscard]] driver_under_test& store() noexcept { return *store_; }
    [[nodiscard]] member join() { return member{*store_, new_session()}; }
    [[nodiscard]] client::maker maker() {
        return [this](compare::driver_events& events) { return store_->make(events); };
    }
    /// As no other test has it.
    [[nodiscard]] compare::session_id new_session();
    [[nodiscard]] std::string new_name(std::string const& beginning = "orders");
    [[nodiscard]] compare::name_key new_key() { return {new_name(), false}; }

    /// The whole name.
    [[nodiscard]] static compare::view look(member& who, compare::name_key const& key,
                                            std::vector<compare::session_id> sessions = {});
    /// A session of this client that can be made to end.
    [[nodiscard]] compare::own_session open_mortal(client& who, std::string body = "mortal");
    /// Such a session is dead: an operator's doing, or nobody kept it.
    void end(compare::session_id id, client& witness);
    /// Whether the session lives, as the store says.
    [[nodiscard]] static bool alive(client& witness, compare::session_id id);
    /// Drives all of them until it is so.
    [[nodiscard]] static bool drive_all_until(std::vector<client*> const& all,
                                              std::function<bool()> const& met);

    /// Waits in the line, at the place that it got.
    compare::line_item wait_in_line(member& who, compare::name_key const& key,
                                    std::string body = "a claim");
    /// The name has a head of this body; its stamp.
    compare::stamp write_head(member& who, compare::name_key const& key, std::string body);

private:
    base::random chance_;
    std::unique_ptr<driver_under_test> store_;
};

/// With its condition, as a step that lets it leave has it.
void let_leave(compare::step& what, compare::line_item const& item);

/// Nobody but these may stand in the line, as a step says it that has seen them all.
void require_nobody_but(compare::step& what, std::vector<compare::line_item> const& seen);

[[nodiscard]] compare::head_write head_of(std::string body);

/// The claims of a line.
[[nodiscard]] std::vector<seam::claim_id> claims_of(compare::view const& what);

}  // namespace holdfast::driver_tests
