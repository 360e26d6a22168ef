#include "shell/rendezvous.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <system_error>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "secrets.hpp"

namespace holdfast::cli {

namespace {

constexpr std::size_t longest_text = 1024;
constexpr std::size_t header_size = 1 + sizeof(std::uint64_t);
using buffer = std::array<char, header_size + longest_text>;

// FNV-1a: the same in every build, so that another version finds it, too.
std::uint64_t hash(std::string_view text, std::uint64_t sum) noexcept {
    constexpr std::uint64_t prime = 0x100000001b3;
    for (char const c : text)
        sum = (sum ^ static_cast<unsigned char>(c)) * prime;
    return sum;
}

// Processes of another PID namespace have other numbers, and may share our network's.
std::string pid_namespace() {
    std::array<char, 64> text{};
    auto const size = ::readlink("/proc/self/ns/pid", text.data(), text.size());
    return size > 0 ? std::string{text.data(), static_cast<std::size_t>(size)} : "";
}

struct address {
    sockaddr_un name{};
    socklen_t size{0};
};

address address_of(shell_claim const& claim) {
    constexpr std::uint64_t offset = 0xcbf29ce484222325;
    auto sum = hash(without_secrets(claim.store), offset);
    sum = hash(std::string_view{"\0", 1}, sum);
    sum = hash(claim.name, sum);
    auto const text = fmt::format("holdfast-lock/{}/{}/{}/{:016x}", ::geteuid(), pid_namespace(),
                                  claim.shell, sum);
    address out;
    out.name.sun_family = AF_UNIX;
    // The first byte stays 0: a name that is in no directory.
    auto const length = std::min(text.size(), sizeof out.name.sun_path - 1);
    std::memcpy(out.name.sun_path + 1, text.data(), length);
    out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    return out;
}

base::descriptor make_socket() {
    base::descriptor out{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    if (!out) throw std::system_error{errno, std::generic_category(), "cannot make a socket"};
    return out;
}

// Everybody can take a name that is in no directory: only our own user's word counts, and the superuser's.
bool is_trusted(int line) noexcept {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(line, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == ::geteuid() || peer.uid == 0);
}

}  // namespace

std::optional<hold_reply> ask_holder(shell_claim const& claim, hold_request request) {
    auto const line = make_socket();
    auto const where = address_of(claim);
    if (::connect(line.get(), reinterpret_cast<sockaddr const*>(&where.name), where.size) != 0 ||
        !is_trusted(line.get()))
        return std::nullopt;
    auto const word = static_cast<char>(request);
    if (::send(line.get(), &word, 1, MSG_NOSIGNAL) != 1) return std::nullopt;
    buffer bytes;
    ssize_t size = 0;
    do {
        size = ::recv(line.get(), bytes.data(), bytes.size(), 0);
    } while (size < 0 && errno == EINTR);
    if (size < static_cast<ssize_t>(header_size)) return std::nullopt;
    hold_reply out;
    out.answer = static_cast<hold_answer>(bytes[0]);
    std::memcpy(&out.token, bytes.data() + 1, sizeof out.token);
    out.text.assign(bytes.data() + header_size, static_cast<std::size_t>(size) - header_size);
    return out;
}

rendezvous::rendezvous(shell_claim const& claim) : listener_{make_socket()} {
    auto const where = address_of(claim);
    constexpr int crowd = 16;
    if (::bind(listener_.get(), reinterpret_cast<sockaddr const*>(&where.name), where.size) != 0 ||
        ::listen(listener_.get(), crowd) != 0)
        throw std::system_error{errno, std::generic_category(),
                                "cannot be found by 'holdfast unlock'"};
}

std::optional<rendezvous::visitor> rendezvous::next() const noexcept {
    base::descriptor line{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (!line || !is_trusted(line.get())) return std::nullopt;
    // One that says nothing must not keep us from the hold.
    timeval const limit{1, 0};
    ::setsockopt(line.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char word = 0;
    if (::recv(line.get(), &word, 1, 0) != 1) return std::nullopt;
    return visitor{std::move(line), static_cast<hold_request>(word)};
}

void rendezvous::visitor::answer(hold_reply const& reply) const noexcept {
    buffer bytes;
    auto const text_size = std::min(reply.text.size(), longest_text);
    bytes[0] = static_cast<char>(reply.answer);
    std::memcpy(bytes.data() + 1, &reply.token, sizeof reply.token);
    std::memcpy(bytes.data() + header_size, reply.text.data(), text_size);
    ::send(line.get(), bytes.data(), header_size + text_size, MSG_NOSIGNAL);
}

}  // namespace holdfast::cli
