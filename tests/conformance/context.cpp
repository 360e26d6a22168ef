#include "conformance/context.hpp"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "support/process.hpp"

namespace holdfast::conformance {

namespace {

std::vector<store_row>& all() {
    static std::vector<store_row> known;
    return known;
}

[[noreturn]] void unsupported(char const* what) {
    throw std::system_error{make_error_code(errc::unsupported), what};
}

}  // namespace

std::string context::url_with(std::string_view option) const {
    auto out = url();
    out += out.find('?') == std::string::npos ? '?' : '&';
    return out.append(option);
}

void context::silence() { unsupported("this store cannot fall silent"); }
void context::restore() { unsupported("this store cannot fall silent"); }

std::uint64_t context::kill_holder(std::string_view name, std::chrono::milliseconds lease) const {
    support::process holder{{HOLDFAST_TEST_WORKER, url()}};
    auto const answer =
        holder.ask("acquire " + std::string{name} + " lease=" + std::to_string(lease.count()));
    holder.kill();
    constexpr std::string_view held = "held ";
    if (!answer.starts_with(held)) throw std::runtime_error{"the holder says: " + answer};
    return std::stoull(answer.substr(held.size()));
}

bool store_row::can_all(abilities const& what) const {
    return std::ranges::all_of(what, [this](ability one) { return can(one); });
}

std::ostream& operator<<(std::ostream& out, store_row const& row) { return out << row.name; }

std::vector<store_row> const& rows() { return all(); }

std::vector<store_row> rows_with(abilities const& needs) {
    std::vector<store_row> out;
    std::ranges::copy_if(rows(), std::back_inserter(out),
                         [&](store_row const& row) { return row.can_all(needs); });
    return out;
}

registration::registration(store_row row) { all().push_back(std::move(row)); }

}  // namespace holdfast::conformance
