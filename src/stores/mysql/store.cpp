// mysql: a store for many machines, in tables of one MySQL or MariaDB server.
#include "stores/compare/store.hpp"

#include <memory>
#include <utility>

#include "stores/mysql/driver.hpp"

namespace holdfast::stores::mysql {

namespace {

std::unique_ptr<seam::store> make(seam::store_context context) {
    auto wanted = settings::parse(context.url);
    auto log = context.log;
    return compare::make_store(std::move(context), [&](compare::driver_events& events) {
        return std::make_unique<driver>(std::move(wanted), events, std::move(log));
    });
}

std::string schema_of(base::url const& url) { return schema{settings::parse(url).prefix}.words(); }

}  // namespace

}  // namespace holdfast::stores::mysql

extern "C" [[gnu::visibility("default")]] holdfast::seam::store_module const*
holdfast_store_mysql_v1() {
    static constexpr holdfast::seam::store_module exported{&holdfast::stores::mysql::make,
                                                           &holdfast::stores::mysql::schema_of};
    return &exported;
}
