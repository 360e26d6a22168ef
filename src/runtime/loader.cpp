#include "runtime/loader.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "base/error.hpp"
#include "base/suggestion.hpp"
#include "runtime/static_stores.hpp"
#include "stores/memory/module.hpp"

namespace holdfast::runtime {

namespace {

bool serves(std::string_view schemes, std::string_view scheme) {
    while (!schemes.empty()) {
        auto const space = schemes.find(' ');
        if (schemes.substr(0, space) == scheme) return true;
        if (space == std::string_view::npos) break;
        schemes.remove_prefix(space + 1);
    }
    return false;
}

// The directory of the stores: beside the library (or the program that it is linked into), in the
// build tree as in an installation.
std::string store_directory() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void const*>(&store_directory), &info) == 0 ||
        info.dli_fname == nullptr)
        return "holdfast/stores";
    std::string const file = info.dli_fname;
    auto const slash = file.rfind('/');
    return (slash == std::string::npos ? std::string{"."} : file.substr(0, slash)) +
           "/holdfast/stores";
}

seam::store_module const& load(std::string_view name) {
    auto const path = store_directory() + "/holdfast_store_" + std::string{name} + ".so";
    auto* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == nullptr) {
        auto const* const why = ::dlerror();
        base::raise(errc::unsupported, "the store module '" + std::string{name} +
                                           "' cannot be loaded: " + (why != nullptr ? why : path));
    }
    auto const symbol = "holdfast_store_" + std::string{name} + "_v1";
    using entry = seam::store_module const* (*)();
    auto const function = reinterpret_cast<entry>(::dlsym(module, symbol.c_str()));
    if (function == nullptr)
        base::raise(errc::unsupported, path + " is not a store module of this version of holdfast");
    return *function();
}

// What a URL may name in other versions, so that it is told from a slip of the pen.
constexpr std::string_view stores_elsewhere =
    "etcd etcds zookeeper postgres mysql quorum+redis quorum+rediss quorum+mysql quorum+postgres";

[[noreturn]] void refuse(std::string_view scheme) {
    if (serves(stores_elsewhere, scheme))
        base::raise(errc::unsupported, "this version of holdfast does not have the store '" +
                                           std::string{scheme} +
                                           ":'; docs/stores lists those that it has");
    std::vector<std::string_view> known{"memory"};
    for (auto const& store : known_stores()) {
        for (auto rest = store.schemes; !rest.empty();) {
            auto const space = rest.find(' ');
            known.push_back(rest.substr(0, space));
            rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
        }
    }
    std::string words = "no store has the scheme '" + std::string{scheme} + ":'";
    if (auto const near = base::nearest(scheme, known); !near.empty())
        words += "; did you mean '" + std::string{near} + ":'?";
    base::raise(errc::bad_url, std::move(words));
}

}  // namespace

seam::store_module const& find_store(std::string_view scheme) {
    if (scheme == "memory") return stores::memory::module();
    for (auto const& store : static_stores())
        if (serves(store.schemes, scheme)) return *store.entry();
    for (auto const& store : known_stores()) {
        if (!serves(store.schemes, scheme)) continue;
        if (!store.built)
            base::raise(errc::unsupported, "this build of holdfast does not have the store '" +
                                               std::string{store.name} +
                                               "'; build it with its option ON");
        static std::mutex mutex;
        static auto& loaded = *new std::map<std::string_view, seam::store_module const*>;
        std::lock_guard const guard{mutex};
        auto& module = loaded[store.name];
        if (module == nullptr) module = &load(store.name);
        return *module;
    }
    refuse(scheme);
}

}  // namespace holdfast::runtime
