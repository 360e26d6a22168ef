#include "support/fenced_file.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace holdfast::support {

namespace {

/// The resource is its own judge: it serialises its writers itself.
class turn {
public:
    explicit turn(std::string const& path)
        : file_{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {
        if (file_ < 0 || ::flock(file_, LOCK_EX) != 0)
            throw std::system_error{errno, std::generic_category(), path};
    }
    ~turn() { ::close(file_); }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;

private:
    int file_;
};

struct content {
    std::uint64_t token{0};
    std::string text{};
};

content load(std::filesystem::path const& path) {
    content out;
    std::ifstream in{path};
    in >> out.token >> std::ws;
    std::getline(in, out.text);
    return out;
}

}  // namespace

bool fenced_file::write(std::uint64_t token, std::string const& text) const {
    turn const mine{path_.string() + ".turn"};
    if (token < load(path_).token) return false;
    std::ofstream{path_} << token << ' ' << text << '\n';
    return true;
}

std::string fenced_file::read() const {
    turn const mine{path_.string() + ".turn"};
    return load(path_).text;
}

}  // namespace holdfast::support
