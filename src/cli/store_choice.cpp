#include "store_choice.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "configuration.hpp"
#include "exit_status.hpp"
#include "home.hpp"
#include "store_paths.hpp"
#include "store_url.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* machine_directory = "/var/lib/holdfast";

struct choice {
    chosen_store store;
    std::string why;  ///< where it comes from, for people
};

void make_directories(std::string const& path, mode_t mode) {
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return;
    for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
        auto const part = path.substr(0, slash);
        if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST)
            throw std::system_error{make_error_code(errc::store_unavailable),
                                    "cannot make " + part + ": " + std::strerror(errno)};
        if (slash == std::string::npos) return;
    }
}

// The superuser's jobs exclude each other whatever their HOME is; a user's files are his own.
choice file_of_last_resort() {
    if (::geteuid() == 0) {
        // Others may pass through it: a store that several users share can lie in a directory below.
        make_directories(machine_directory, 0755);
        return {{std::string{"file:"} + machine_directory + "/locks.db"},
                "the superuser's, as no other is given"};
    }
    auto const state = user_directory("XDG_STATE_HOME", ".local/state");
    if (state.empty())
        throw usage_error{
            "no store is given and there is no home directory: use --store URL or set "
            "HOLDFAST_STORE"};
    auto const directory = state + "/holdfast";
    make_directories(directory, 0700);
    return {{"file:" + url_path(directory) + "/locks.db"}, "this user's own, as no other is given"};
}

choice given_by(char const* whom, std::string const& word) {
    if (!is_store_name(word)) return {{word}, whom};
    auto const found = configuration::read().find(word);
    return {{found.url, found.name}, fmt::format("'{}' by {}, {}", word, whom, found.where)};
}

choice find_store(std::string const& option) {
    if (!option.empty()) return given_by("--store", option);
    if (auto const variable = environment("HOLDFAST_STORE"); !variable.empty())
        return given_by("$HOLDFAST_STORE", variable);
    if (auto const found = configuration::read().default_store())
        return {{found->url, found->name}, "the default, " + found->where};
    return file_of_last_resort();
}

}  // namespace

chosen_store choose_store(invocation const& invocation) {
    auto [store, why] = find_store(invocation.store);
    if (is_memory(store.url) && invocation.command != "bench")
        throw usage_error{
            "memory: is a store within one process, and this one ends with the command: it would "
            "lock "
            "nothing. Use file:PATH, or a server; only 'bench' can use memory:"};
    if (is_relative_file(store.url)) {
        std::error_code fault;
        auto const absolute = with_absolute_paths(store.url, fault);
        if (fault)
            throw usage_error{
                "the store's path is relative to a working directory that cannot be found (" +
                fault.message() + "): give an absolute one"};
        complain(fmt::format("warning: {} is another file in another directory; here it is {}",
                             store.url, absolute));
        store.url = absolute;
    }
    if (invocation.verbose) complain(fmt::format("the store is {} ({})", store.url, why));
    return store;
}

client open_client(std::string const& store, invocation const& invocation, std::string label) {
    return client{store,
                  {.patience = invocation.patience,
                   .label = std::move(label),
                   .log = invocation.trouble.receiver()}};
}

client open_client(invocation const& invocation) {
    return open_client(choose_store(invocation).url, invocation);
}

}  // namespace holdfast::cli
