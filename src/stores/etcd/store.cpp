// etcd: a store for many machines, in a cluster that agrees on every step.
#include "stores/compare/store.hpp"

#include <memory>
#include <utility>

#include "stores/etcd/driver.hpp"
#include "stores/etcd/settings.hpp"

namespace holdfast::stores::etcd {

namespace {

std::unique_ptr<seam::store> make(seam::store_context context) {
    auto to = settings::parse(context.url);
    auto log = context.log;
    return compare::make_store(std::move(context), [&](compare::driver_events& events) {
        return make_driver(std::move(to), std::move(log), events);
    });
}

}  // namespace

}  // namespace holdfast::stores::etcd

extern "C" [[gnu::visibility("default")]] holdfast::seam::store_module const*
holdfast_store_etcd_v1() {
    static constexpr holdfast::seam::store_module exported{&holdfast::stores::etcd::make};
    return &exported;
}
