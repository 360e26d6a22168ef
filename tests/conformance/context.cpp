#include "conformance/context.hpp"

#include <ostream>
#include <stdexcept>
#include <utility>

#include "support/process.hpp"

namespace holdfast::conformance {

namespace {

std::vector<store_entry>& all() {
    static std::vector<store_entry> it;
    return it;
}

[[noreturn]] void unsupported(char const* what) {
    throw std::system_error{make_error_code(errc::unsupported), what};
}

}  // namespace

void context::silence() { unsupported("this store cannot fall silent"); }
void context::restore() { unsupported("this store cannot fall silent"); }

std::uint64_t context::kill_holder(std::string_view name, std::chrono::milliseconds lease) const {
    if (!can().processes) unsupported("no other process can use this store");
    support::process holder{{HOLDFAST_TEST_WORKER, url()}};
    auto const answer =
        holder.ask("acquire " + std::string{name} + " lease=" + std::to_string(lease.count()));
    holder.kill();
    constexpr std::string_view held = "held ";
    if (!answer.starts_with(held)) throw std::runtime_error{"the holder says: " + answer};
    return std::stoull(answer.substr(held.size()));
}

std::ostream& operator<<(std::ostream& out, store_entry const& entry) { return out << entry.name; }

std::vector<store_entry> const& stores() { return all(); }

registration::registration(std::string name, std::function<std::unique_ptr<context>()> make) {
    all().push_back({std::move(name), std::move(make)});
}

}  // namespace holdfast::conformance
