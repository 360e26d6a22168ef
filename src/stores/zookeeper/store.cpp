// ZooKeeper: a store for many machines, in an ensemble that agrees on every step.
#include "stores/compare/store.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include <dlfcn.h>

#include "stores/zookeeper/driver.hpp"
#include "stores/zookeeper/settings.hpp"

namespace holdfast::stores::zookeeper {

namespace {

// A program that links the library with threads has that one's functions called by all of its parts, and they are not
// to be driven by us.
void require_own_library() {
    Dl_info found{};
    auto* const symbol = ::dlsym(RTLD_DEFAULT, "zookeeper_init");
    bool const other =
        symbol != nullptr && ::dladdr(symbol, &found) != 0 &&
        std::string_view{found.dli_fname}.find("zookeeper_mt") != std::string_view::npos;
    if (other)
        base::raise(errc::unsupported,
                    "this program links libzookeeper_mt, which does not go together with the "
                    "ZooKeeper store of holdfast: link libzookeeper_st, or use another store");
}

std::unique_ptr<seam::store> make(seam::store_context context) {
    require_own_library();
    auto to = settings::parse(context.url);
    auto log = context.log;
    return compare::make_store(std::move(context), [&](compare::driver_events& events) {
        return std::make_unique<driver>(std::move(to), std::move(log), events);
    });
}

}  // namespace

}  // namespace holdfast::stores::zookeeper

extern "C" [[gnu::visibility("default")]] holdfast::seam::store_module const*
holdfast_store_zookeeper_v1() {
    static constexpr holdfast::seam::store_module exported{&holdfast::stores::zookeeper::make};
    return &exported;
}
