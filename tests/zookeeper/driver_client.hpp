// A client of the driver alone, as the family would be.
#pragma once

#include <memory>
#include <string>

#include "base/url.hpp"
#include "compare/client.hpp"
#include "stores/zookeeper/driver.hpp"
#include "stores/zookeeper/settings.hpp"

namespace holdfast::zookeeper_tests {

[[nodiscard]] inline driver_tests::client client_of(std::string const& url) {
    return driver_tests::client{[&](stores::compare::driver_events& events) {
        return std::make_unique<stores::zookeeper::driver>(
            stores::zookeeper::settings::parse(base::url::parse(url)),
            [](log_level, std::string const&) {}, events);
    }};
}

}  // namespace holdfast::zookeeper_tests
