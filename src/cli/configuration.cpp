#include "configuration.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "base/suggestion.hpp"
#include "configuration_file.hpp"
#include "exit_status.hpp"
#include "home.hpp"
#include "secrets.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* machine_file = "/etc/holdfast/config.toml";

[[noreturn]] void refuse(int status, std::string const& text) {
    throw failure{status, text.c_str()};
}

std::string user_file() {
    auto const directory = user_directory("XDG_CONFIG_HOME", ".config");
    return directory.empty() ? directory : directory + "/holdfast/config.toml";
}

// Who can write the file decides which locks exclude each other.
void require_trust(std::string const& path, struct stat const& status) {
    if (!S_ISREG(status.st_mode)) refuse(exit_status::usage, path + " is not a regular file");
    if (status.st_uid != 0 && status.st_uid != ::geteuid())
        refuse(exit_status::usage,
               fmt::format("{} belongs to another user (uid {}), who could name any store in it: "
                           "make it yours, or use --store URL",
                           path, status.st_uid));
    if ((status.st_mode & S_IWOTH) != 0)
        refuse(exit_status::usage,
               fmt::format("{} can be written by everybody: chmod o-w it", path));
}

std::string contents_of(std::string const& path, int file) {
    std::string out;
    std::array<char, 4096> piece;
    for (;;) {
        auto const size = ::read(file, piece.data(), piece.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0)
            refuse(exit_status::unavailable,
                   fmt::format("cannot read {}: {}", path, std::strerror(errno)));
        if (size == 0) return out;
        out.append(piece.data(), static_cast<std::size_t>(size));
    }
}

bool holds_secret(configured_store const& store) { return without_secrets(store.url) != store.url; }

}  // namespace

bool is_store_name(std::string_view word) noexcept {
    return word.find(':') == std::string_view::npos;
}

configuration configuration::read() {
    configuration out;
    if (auto const path = user_file(); !path.empty()) out.add(path);
    out.add(machine_file);
    return out;
}

void configuration::add(std::string const& path) {
    paths_.push_back(path);
    base::descriptor const file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (!file && (errno == ENOENT || errno == ENOTDIR)) return;
    struct stat status {};
    // A file that is there and cannot be read is no reason to lock elsewhere than everybody else does.
    if (!file || ::fstat(file.get(), &status) != 0)
        refuse(exit_status::unavailable,
               fmt::format("cannot read {}: {}; use --store URL, or get the right to read it", path,
                           std::strerror(errno)));
    require_trust(path, status);
    auto parsed = parse_configuration(path, contents_of(path, file.get()));
    bool const secret = (parsed.default_store && holds_secret(*parsed.default_store)) ||
                        std::ranges::any_of(parsed.stores, [](auto const& each) {
                            return holds_secret(each.second);
                        });
    if (secret && (status.st_mode & S_IROTH) != 0)
        complain(fmt::format(
            "warning: {} holds a password and can be read by everybody: chmod o-r it", path));
    stores_.merge(parsed.stores);  // what is there stays
    if (!default_) default_ = std::move(parsed.default_store);
}

std::vector<std::string_view> configuration::names() const {
    std::vector<std::string_view> out;
    for (auto const& [name, store] : stores_)
        out.emplace_back(name);
    return out;
}

configured_store const& configuration::find(std::string_view name) const {
    if (auto const found = stores_.find(name); found != stores_.end()) return found->second;
    if (default_ && name == default_->name && !is_store_name(default_->url)) return *default_;
    auto const shown = harmless(name);
    if (name.find('/') != std::string_view::npos)
        refuse(exit_status::usage, fmt::format("'{0}' is neither the name nor the URL of a store; "
                                               "for a file write file:{0}",
                                               shown));
    auto const known = names();
    if (known.empty())
        refuse(exit_status::usage,
               fmt::format("no store is called '{}': names are given by {}, where there are none",
                           shown, fmt::join(paths_, " and ")));
    refuse(exit_status::usage,
           fmt::format("no store is called '{}', only {}{}", shown, fmt::join(known, ", "),
                       base::did_you_mean(name, known)));
}

std::optional<configured_store> configuration::default_store() const {
    if (!default_ || !is_store_name(default_->url)) return default_;
    try {
        return find(default_->url);
    } catch (failure const& error) {
        refuse(error.status(), fmt::format("{}: default: {}", default_->where, error.what()));
    }
}

}  // namespace holdfast::cli
