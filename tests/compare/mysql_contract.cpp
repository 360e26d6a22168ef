// The contract of drivers on MariaDB: with numbers from a sequence, and from rows as on MySQL.
#include <holdfast/options.hpp>

#include "compare/contract.hpp"
#include "stores/mysql/driver.hpp"
#include "support/mysql_server.hpp"

namespace holdfast::driver_tests {

namespace {

namespace mysql = stores::mysql;

/// Started when the first test needs it, and kept until the process ends.
support::mysql_server& server() {
    static support::mysql_server one;
    return one;
}

class mysql_under_test final : public driver_under_test {
public:
    explicit mysql_under_test(bool rows) : rows_{rows} {}

    std::unique_ptr<compare::driver> make(compare::driver_events& events) override {
        auto wanted = mysql::settings::parse(base::url::parse(server().url()));
        wanted.numbers_from_rows = rows_;
        if (rows_) wanted.prefix = "rows_";
        return std::make_unique<mysql::driver>(std::move(wanted), events,
                                               [](log_level, std::string const&) {});
    }
    bool ends_sessions() const override { return true; }
    void end_session(compare::session_id id) override {
        server().ask(std::string{"DELETE FROM "} + (rows_ ? "rows_" : "holdfast_") +
                     "session WHERE id = " + std::to_string(static_cast<std::uint64_t>(id)));
    }
    std::chrono::milliseconds short_lease() const override {
        return std::chrono::milliseconds{300};
    }

private:
    bool rows_;
};

}  // namespace

std::vector<contract_case> contract_cases() {
    return {{"sequence", [] { return std::make_unique<mysql_under_test>(false); }},
            {"rows", [] { return std::make_unique<mysql_under_test>(true); }}};
}

}  // namespace holdfast::driver_tests
