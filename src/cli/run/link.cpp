#include "run/link.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <sys/socket.h>

namespace holdfast::cli {

namespace {
constexpr std::size_t header_size = 1 + sizeof(std::uint64_t);
constexpr std::size_t longest_text = 4096;
using buffer = std::array<char, header_size + longest_text>;
}  // namespace

bool link::send(message const& message) noexcept {
    buffer bytes;
    auto const text_size = std::min(message.text.size(), longest_text);
    bytes[0] = static_cast<char>(message.kind);
    std::memcpy(bytes.data() + 1, &message.number, sizeof message.number);
    std::memcpy(bytes.data() + header_size, message.text.data(), text_size);
    ssize_t sent = 0;
    do {
        sent = ::send(end_.get(), bytes.data(), header_size + text_size, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

std::optional<message> link::receive() noexcept {
    buffer bytes;
    ssize_t size = 0;
    do {
        size = ::recv(end_.get(), bytes.data(), bytes.size(), 0);
        // A reset means that the other side died with our words unread; its own still stand here.
    } while (size < 0 && (errno == EINTR || errno == ECONNRESET));
    if (size < static_cast<ssize_t>(header_size)) return {};
    message out;
    out.kind = static_cast<message_kind>(bytes[0]);
    std::memcpy(&out.number, bytes.data() + 1, sizeof out.number);
    out.text.assign(bytes.data() + header_size, static_cast<std::size_t>(size) - header_size);
    return out;
}

std::pair<link, link> make_link() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw std::system_error{errno, std::generic_category(), "cannot make a socket pair"};
    return {link{owned_descriptor{ends[0]}}, link{owned_descriptor{ends[1]}}};
}

}  // namespace holdfast::cli
