#include "stores/postgres/answer.hpp"

#include "base/text.hpp"
#include "stores/postgres/statement.hpp"

namespace holdfast::stores::postgres {

bool rows::done() const noexcept {
    auto const status = PQresultStatus(result_.get());
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

std::string_view rows::state() const noexcept {
    auto const* const found = PQresultErrorField(result_.get(), PG_DIAG_SQLSTATE);
    return found == nullptr ? std::string_view{} : std::string_view{found};
}

// An error ends the transaction. What ends the connection may come when it was over already.
bool rows::surely_failed() const noexcept {
    if (PQresultStatus(result_.get()) == PGRES_PIPELINE_ABORTED) return true;
    auto const* const severity = PQresultErrorField(result_.get(), PG_DIAG_SEVERITY_NONLOCALIZED);
    return severity != nullptr && std::string_view{severity} == "ERROR";
}

std::int64_t rows::changed() const noexcept {
    return static_cast<std::int64_t>(base::parse_number(PQcmdTuples(result_.get())).value_or(0));
}

std::string_view rows::bytes(int row, int column) const noexcept {
    return {PQgetvalue(result_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t rows::number(int row, int column) const noexcept {
    auto const found = bytes(row, column);
    std::uint64_t out = 0;
    for (char const each : found)
        out = out << 8 | static_cast<unsigned char>(each);
    if (found.size() == sizeof(std::int32_t)) return static_cast<std::int32_t>(out);
    return static_cast<std::int64_t>(out);
}

std::string bytes_element(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out{R"("\\x)"};
    for (char const each : bytes) {
        auto const value = static_cast<unsigned char>(each);
        out += digits[value >> 4];
        out += digits[value & 15];
    }
    return out + '"';
}

}  // namespace holdfast::stores::postgres
