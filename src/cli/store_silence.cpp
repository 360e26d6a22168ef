#include "store_silence.hpp"

#include <utility>

#include <fmt/format.h>

#include "duration.hpp"

namespace holdfast::cli {

namespace {

std::uint64_t failed_requests(client const& client) {
    return client.metrics().at("requests_failed");
}

}  // namespace

store_silence::store_silence(client client, trouble_log log,
                             std::optional<std::chrono::milliseconds> limit)
    : client_{std::move(client)},
      log_{std::move(log)},
      limit_{limit},
      failed_before_{failed_requests(client_)} {}

bool store_silence::is_first_contact() const {
    auto const counters = client_.metrics();
    return counters.at("requests") - counters.at("requests_failed") < 2;
}

std::chrono::milliseconds store_silence::age() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(base::boot_clock::now() - since_);
}

std::string store_silence::text() const {
    auto const tries = failed_requests(client_) - failed_before_ + 1;
    auto why = log_.last();
    constexpr std::string_view head = "the server ";  // a line of a terminal has little room
    if (why.starts_with(head)) why.erase(0, head.size());
    if (why.empty()) why = client_.url() + " does not answer";
    auto const limit = limit_ ? " of " + short_duration(*limit_) : std::string{};
    return fmt::format("try {}, {}{}: {}", tries, short_duration(age()), limit, why);
}

}  // namespace holdfast::cli
