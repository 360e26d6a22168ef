// What the rows of a look mean.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "stores/compare/store_times.hpp"
#include "stores/compare/view_parts.hpp"
#include "stores/postgres/statements.hpp"

namespace holdfast::stores::postgres {

namespace {

enum column { of_kind = 2, of_number = 3, of_second = 4, of_body = 5, of_claim = 6, of_name = 7 };
enum kind { is_head = 1, is_item = 2, is_session = 3, is_ballot = 4 };

std::uint64_t number_in(std::string_view bytes) {
    std::uint64_t out = 0;
    for (char const each : bytes)
        out = out << 8 | static_cast<unsigned char>(each);
    return out;
}

void add_row(sql::viewed& out, rows const& from, int row) {
    auto const number = static_cast<std::uint64_t>(from.number(row, of_number));
    std::string body{from.bytes(row, of_body)};
    switch (from.number(row, of_kind)) {
    case is_head:
        out.found.written = compare::stamp{number};
        out.found.body = std::move(body);
        break;
    case is_item: {
        auto const claim = from.bytes(row, of_claim);
        out.found.line.push_back(
            {{seam::client_id{number_in(claim.substr(0, 8))}, number_in(claim.substr(8))},
             compare::session_id{static_cast<std::uint64_t>(from.number(row, of_second))},
             number,
             std::move(body)});
        break;
    }
    case is_session: {
        compare::session_id const id{number};
        bool const there = !from.is_null(row, of_second);
        auto const expires = from.number(row, of_second);
        if (there && expires <= from.number(0, 0)) out.expired.push_back(id);
        out.found.sessions.push_back({id, there, compare::store_time_of(expires), std::move(body)});
        break;
    }
    case is_ballot: out.found.ballot = seam::sequence{number}; break;
    default: break;
    }
}

}  // namespace

compare::reading read_time(rows const& from) {
    return {compare::store_time_of(from.number(0, 0)),
            seam::clock_id{static_cast<std::uint64_t>(from.number(0, 1))}};
}

sql::viewed read_view(rows const& from, compare::name_query const& what) {
    sql::viewed out;
    for (int row = 1; row < from.size(); ++row)
        add_row(out, from, row);
    out.found.key = what.key;
    compare::arrange_line(out.found, what);
    return out;
}

std::vector<sql::viewed> read_views(rows const& from,
                                    std::vector<compare::name_query> const& what) {
    std::vector<sql::viewed> out(what.size());
    for (int row = 1; row < from.size(); ++row)
        add_row(out.at(static_cast<std::size_t>(from.number(row, of_name)) - 1), from, row);
    for (std::size_t i = 0; i < what.size(); ++i) {
        out[i].found.key = what[i].key;
        compare::arrange_line(out[i].found, what[i]);
    }
    return out;
}

bool looks_alike(std::vector<compare::name_query> const& what) {
    return what.size() > 1 && std::ranges::all_of(what, [&](auto const& each) {
               return each.claims.empty() && each.sessions.empty() && !each.ballot &&
                      each.bodies == what.front().bodies;
           });
}

}  // namespace holdfast::stores::postgres
