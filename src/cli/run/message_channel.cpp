#include "run/message_channel.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <sys/socket.h>

namespace holdfast::cli {

namespace {
constexpr std::size_t header_size = 1 + sizeof(std::uint64_t);
constexpr std::size_t longest_text = 65536;  // a URL of long paths, every byte encoded
using buffer = std::array<char, header_size + longest_text>;

struct control_buffer {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

void attach(msghdr& packet, control_buffer& control, int descriptor) noexcept {
    packet.msg_control = control.bytes.data();
    packet.msg_controllen = control.bytes.size();
    auto* const header = CMSG_FIRSTHDR(&packet);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
}

base::descriptor attached(msghdr& packet) noexcept {
    auto const* const header = CMSG_FIRSTHDR(&packet);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return {};
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return base::descriptor{descriptor};
}

}  // namespace

bool message_channel::send(message const& message) noexcept {
    buffer bytes;
    auto const text_size = std::min(message.text.size(), longest_text);
    bytes[0] = static_cast<char>(message.kind);
    std::memcpy(bytes.data() + 1, &message.number, sizeof message.number);
    std::memcpy(bytes.data() + header_size, message.text.data(), text_size);
    iovec body{bytes.data(), header_size + text_size};
    control_buffer control{};
    msghdr packet{};
    packet.msg_iov = &body;
    packet.msg_iovlen = 1;
    if (message.presence) attach(packet, control, message.presence.get());
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(end_.get(), &packet, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

std::optional<message> message_channel::receive() noexcept {
    buffer bytes;
    iovec body{bytes.data(), bytes.size()};
    control_buffer control{};
    msghdr packet{};
    packet.msg_iov = &body;
    packet.msg_iovlen = 1;
    packet.msg_control = control.bytes.data();
    packet.msg_controllen = control.bytes.size();
    ssize_t size = 0;
    do {
        size = ::recvmsg(end_.get(), &packet, MSG_CMSG_CLOEXEC);
        // A reset means that the other side died with our words unread; its own still stand here.
    } while (size < 0 && (errno == EINTR || errno == ECONNRESET));
    if (size < static_cast<ssize_t>(header_size)) return {};
    message out;
    out.presence = attached(packet);
    out.kind = static_cast<message_kind>(bytes[0]);
    std::memcpy(&out.number, bytes.data() + 1, sizeof out.number);
    out.text.assign(bytes.data() + header_size, static_cast<std::size_t>(size) - header_size);
    return out;
}

std::pair<message_channel, message_channel> make_message_channel() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw std::system_error{errno, std::generic_category(), "cannot make a socket pair"};
    return {message_channel{base::descriptor{ends[0]}}, message_channel{base::descriptor{ends[1]}}};
}

}  // namespace holdfast::cli
