#include "stores/sql/fault.hpp"

#include "base/text.hpp"

namespace holdfast::stores::sql {

base::error explain(trouble const& what, std::string_view told, settings const& of) {
    constexpr std::size_t most = 400;
    auto const quoted = base::quotable(told, of.password, most);
    return {what.why, "the server " + of.server + " " + std::string{what.words} +
                          (quoted.empty() ? "" : " (" + quoted + ")")};
}

base::error other_version(std::int64_t found, std::int64_t ours, settings const& of) {
    return {errc::unsupported,
            "the tables at " + of.server + " have version " + std::to_string(found) +
                " and this holdfast knows version " + std::to_string(ours) +
                (found > ours ? "; use a newer holdfast, or"
                              : "; drop them when nobody uses them any more, or choose") +
                " another 'prefix' in the store URL"};
}

}  // namespace holdfast::stores::sql
