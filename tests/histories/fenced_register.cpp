#include "histories/fenced_register.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::histories {

/// The only user at the moment. The kernel ends its turn when it dies.
class fenced_register::turn {
public:
    explicit turn(std::filesystem::path const& path)
        : file_{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)}, path_{path.string()} {
        if (file_ < 0) fail();
        if (::flock(file_, LOCK_EX) == 0) return;
        auto const error = errno;
        ::close(file_);
        errno = error;
        fail();
    }
    ~turn() { ::close(file_); }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;

    [[nodiscard]] std::uint64_t count() const {
        struct stat about {};
        if (::fstat(file_, &about) != 0) fail();
        return static_cast<std::uint64_t>(about.st_size) / sizeof(entry);
    }
    [[nodiscard]] entry at(std::uint64_t index) const {
        entry out;
        if (::pread(file_, &out, sizeof out, static_cast<off_t>(index * sizeof out)) !=
            static_cast<ssize_t>(sizeof out))
            fail();
        return out;
    }
    [[nodiscard]] state current() const {
        auto const all = count();
        return all == 0 ? state{} : at(all - 1).left;
    }
    /// One call of the system: there, or not.
    void append(entry one) const {
        one.use.serial = count();
        auto const where = static_cast<off_t>(one.use.serial * sizeof one);
        if (::pwrite(file_, &one, sizeof one, where) != static_cast<ssize_t>(sizeof one)) fail();
    }

private:
    [[noreturn]] void fail() const {
        throw std::system_error{errno, std::generic_category(), path_};
    }
    int file_;
    std::string path_;
};

fenced_register::fenced_register(std::filesystem::path path, bool check)
    : path_{std::move(path)}, check_{check} {}

bool fenced_register::admits(state const& current, register_user const& by) const {
    if (!check_) return true;
    if (by.mode == mode::shared) return by.token >= current.exclusive;
    return by.token >= std::max(current.exclusive, current.shared);
}

void fenced_register::raise(state& current, register_user const& by) {
    auto& highest = by.mode == mode::shared ? current.shared : current.exclusive;
    highest = std::max(highest, by.token);
}

event fenced_register::event_of(register_user const& by, kind of) {
    event out;
    out.kind = of;
    out.worker = by.worker;
    out.incarnation = by.incarnation;
    out.party = by.party;
    out.call = by.call;
    out.token = by.token;
    out.mode = by.mode;
    return out;
}

std::optional<std::int64_t> fenced_register::read(register_user const& by) const {
    auto const before = boot_time();
    turn const mine{path_};
    auto current = mine.current();
    bool const admitted = admits(current, by);
    auto use = event_of(by, admitted ? kind::fenced_read : kind::fence_refused);
    if (admitted) raise(current, by);
    use.number = current.value;
    use.before = before;
    use.after = boot_time();
    mine.append({current, use});
    if (!admitted) return std::nullopt;
    return current.value;
}

bool fenced_register::write(register_user const& by, std::int64_t value, std::int64_t from) const {
    auto const before = boot_time();
    turn const mine{path_};
    auto current = mine.current();
    bool const admitted = admits(current, by);
    auto use = event_of(by, admitted ? kind::fenced_write : kind::fence_refused);
    if (admitted) {
        raise(current, by);
        current.value = value;
        use.second_number = from;
    }
    use.number = current.value;
    use.before = before;
    use.after = boot_time();
    mine.append({current, use});
    return admitted;
}

std::vector<event> fenced_register::uses(std::string const& name) const {
    turn const mine{path_};
    std::vector<event> out;
    for (std::uint64_t i = 0, all = mine.count(); i < all; ++i) {
        out.push_back(mine.at(i).use);
        out.back().set_name(name);
    }
    return out;
}

}  // namespace holdfast::histories
