#include "runtime/loader.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include <holdfast/version.hpp>

#include "base/error.hpp"
#include "base/mutex.hpp"
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

// Named as the library is: the minor version counts before 1.0.
std::string package_of(std::string_view store) {
    auto abi = std::to_string(HOLDFAST_VERSION_MAJOR);
    if (HOLDFAST_VERSION_MAJOR == 0) abi += "." + std::to_string(HOLDFAST_VERSION_MINOR);
    return "libholdfast" + abi + "-" + std::string{store};
}

seam::store_module const& load(std::string_view name) {
    auto const path = store_directory() + "/holdfast_store_" + std::string{name} + ".so";
    if (::access(path.c_str(), F_OK) != 0)
        base::raise(errc::unsupported, "the store '" + std::string{name} +
                                           "' is not installed: there is no " + path +
                                           "; on Debian it comes with " + package_of(name));
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

// What other programs call the same, or the same thing.
struct other_scheme {
    std::string_view theirs;
    std::string_view ours;
};
constexpr std::array other_schemes{
    other_scheme{"etcd3", "etcd"},
    other_scheme{"mariadb", "mysql"},
    other_scheme{"pg", "postgres"},
    other_scheme{"postgresql", "postgres"},
    other_scheme{"quorum+mariadb", "quorum+mysql"},
    other_scheme{"quorum+postgresql", "quorum+postgres"},
    other_scheme{"redis+ssl", "rediss"},
    other_scheme{"redis+tls", "rediss"},
    other_scheme{"redis-cluster", "redis+cluster"},
    other_scheme{"redis-sentinel", "redis+sentinel"},
    other_scheme{"rediss-sentinel", "rediss+sentinel"},
    other_scheme{"redlock", "quorum+redis"},
    other_scheme{"sentinel", "redis+sentinel"},
    other_scheme{"sqlite", "file"},
    other_scheme{"sqlite3", "file"},
    other_scheme{"unix", "redis+unix"},
    other_scheme{"valkey", "redis"},
    other_scheme{"valkeys", "rediss"},
    other_scheme{"zk", "zookeeper"},
};

void add_words(std::vector<std::string_view>& out, std::string_view words) {
    while (!words.empty()) {
        auto const space = words.find(' ');
        out.push_back(words.substr(0, space));
        words.remove_prefix(space == std::string_view::npos ? words.size() : space + 1);
    }
}

// Those of this build, which has them or lacks them only by its options.
std::vector<std::string_view> known_schemes() {
    std::vector<std::string_view> out{"memory"};
    for (auto const& store : known_stores())
        add_words(out, store.schemes);
    return out;
}

std::string_view likely_scheme(std::string_view scheme) {
    for (auto const& each : other_schemes)
        if (each.theirs == scheme) return each.ours;
    return base::nearest(scheme, known_schemes());
}

[[noreturn]] void refuse(std::string_view scheme) {
    auto words = "no store has the scheme '" + std::string{scheme} + ":'";
    if (auto const near = likely_scheme(scheme); !near.empty())
        words += "; did you mean '" + std::string{near} + ":'?";
    else
        words += "; a store URL is such as file:/var/lib/app/locks.db or redis://HOST:PORT";
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
                                               "'; it was left out when this was built");
        static base::mutex mutex;
        static auto& loaded = *new std::map<std::string_view, seam::store_module const*>;
        base::lock_guard const guard{mutex};
        auto& module = loaded[store.name];
        if (module == nullptr) module = &load(store.name);
        return *module;
    }
    refuse(scheme);
}

}  // namespace holdfast::runtime
