// What the server answered to one exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

#include "base/error.hpp"
#include "stores/postgres/settings.hpp"

namespace holdfast::stores::postgres {

/// The rows that a statement gave, or its error. Columns are binary: numbers have eight bytes.
class rows {
public:
    explicit rows(PGresult* result) noexcept : result_{result, &PQclear} {}

    /// Whether it was carried out.
    [[nodiscard]] bool done() const noexcept;
    /// The SQLSTATE; empty when there is none.
    [[nodiscard]] std::string_view state() const noexcept;
    [[nodiscard]] std::string_view words() const noexcept {
        return PQresultErrorMessage(result_.get());
    }
    /// The server says that it was not carried out, and means it.
    [[nodiscard]] bool surely_failed() const noexcept;

    /// How many rows it has written or removed.
    [[nodiscard]] std::int64_t changed() const noexcept;
    [[nodiscard]] int size() const noexcept { return PQntuples(result_.get()); }
    [[nodiscard]] bool is_null(int row, int column) const noexcept {
        return PQgetisnull(result_.get(), row, column) != 0;
    }
    [[nodiscard]] std::string_view bytes(int row, int column) const noexcept;
    /// 0 where there is none. Numbers of eight or four bytes, and booleans.
    [[nodiscard]] std::int64_t number(int row, int column) const noexcept;

private:
    std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

struct answer {
    std::vector<rows> results;          ///< one for each statement, unless it was lost
    std::optional<base::error> lost{};  ///< no answer came
    bool sent{true};                    ///< what was lost had been sent, at least in part

    /// The first statement that was not carried out; nullptr when all were.
    [[nodiscard]] rows const* failed() const noexcept {
        for (auto const& each : results)
            if (!each.done()) return &each;
        return nullptr;
    }
};

}  // namespace holdfast::stores::postgres
