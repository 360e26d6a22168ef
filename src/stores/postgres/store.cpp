// postgres: a store for many machines, in tables of one PostgreSQL server.
#include "stores/compare/store.hpp"

#include <memory>
#include <utility>

#include "stores/postgres/driver.hpp"
#include "stores/postgres/schema.hpp"
#include "stores/postgres/settings.hpp"

namespace holdfast::stores::postgres {

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

}  // namespace holdfast::stores::postgres

extern "C" [[gnu::visibility("default")]] holdfast::seam::store_module const*
holdfast_store_postgres_v1() {
    static constexpr holdfast::seam::store_module exported{&holdfast::stores::postgres::make,
                                                           &holdfast::stores::postgres::schema_of};
    return &exported;
}
