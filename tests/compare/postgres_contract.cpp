// The contract of drivers on PostgreSQL: directly, and through pgbouncer in transaction mode.
#include <holdfast/options.hpp>

#include "compare/contract.hpp"
#include "stores/postgres/driver.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::driver_tests {

namespace {

namespace postgres = stores::postgres;

/// Started when the first test needs it, and kept until the process ends.
support::postgres_server& server() {
    static support::postgres_server one{{.arguments = {"-c", "fsync=off"}}};
    return one;
}

/// In front of it; the same.
support::pgbouncer& pooler() {
    static support::pgbouncer one{server()};
    return one;
}

enum class way { direct, pooled };

class postgres_under_test final : public driver_under_test {
public:
    explicit postgres_under_test(way to) : to_{to} {}

    std::unique_ptr<compare::driver> make(compare::driver_events& events) override {
        return std::make_unique<postgres::driver>(
            postgres::settings::parse(
                base::url::parse(to_ == way::direct ? server().url() : pooler().url())),
            events, [](log_level, std::string const&) {});
    }
    bool pushes() const override { return to_ == way::direct; }
    bool ends_sessions() const override { return true; }
    void end_session(compare::session_id id) override {
        server().ask("DELETE FROM holdfast_session WHERE id = " +
                     std::to_string(static_cast<std::uint64_t>(id)));
    }
    /// Cuts all of them: which of them hears is not to be seen from outside. Behind a pooler nobody does.
    bool cut(compare::driver& /*which*/) override {
        if (to_ == way::pooled) return false;
        server().ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
            "'holdfast' AND query LIKE 'LISTEN%'");
        return true;
    }
    std::chrono::milliseconds short_lease() const override {
        return std::chrono::milliseconds{300};
    }

private:
    way to_;
};

}  // namespace

std::vector<contract_case> contract_cases() {
    return {{"directly", [] { return std::make_unique<postgres_under_test>(way::direct); }},
            {"by_pgbouncer", [] { return std::make_unique<postgres_under_test>(way::pooled); }}};
}

}  // namespace holdfast::driver_tests
