#include "support/etcd_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/loopback.hpp"
#include "support/require.hpp"

namespace holdfast::support {

namespace {

/// Runs a program with its output in `out`; -1 when it cannot be started.
pid_t spawn(std::vector<std::string> words, int out) {
    std::vector<char*> arguments;
    for (auto& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    auto const parent = ::getpid();
    auto const child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(126);
    int const in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execvp(arguments.front(), arguments.data());
    ::_exit(127);
}

std::string run(std::vector<std::string> const& words) {
    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe");
    auto const child = spawn(words, ends[1]);
    ::close(ends[1]);
    std::string said;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
        said.append(buffer.data(), static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0)
        throw std::runtime_error{words.front() + " failed: " + said};
    return said;
}

// Every write of etcd is synced, and a disk that many share takes its time.
std::filesystem::path place_for(etcd_server_options const& options) {
    std::filesystem::path const memory{"/dev/shm"};
    if (!options.on_disk && ::access(memory.c_str(), W_OK) == 0) return memory;
    return std::filesystem::temp_directory_path();
}

// What a member tells everybody about itself.
std::string metrics_of(std::uint16_t port) {
    int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto const there = loopback(port);
    require(::connect(socket, raw(there), sizeof there) == 0, "connect");
    constexpr std::string_view request = "GET /metrics HTTP/1.0\r\n\r\n";
    require(::send(socket, request.data(), request.size(), MSG_NOSIGNAL) > 0, "send");
    std::string out;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::recv(socket, buffer.data(), buffer.size(), 0)) > 0;)
        out.append(buffer.data(), static_cast<std::size_t>(got));
    ::close(socket);
    return out;
}

std::string address(std::uint16_t port, bool tls) {
    return (tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port);
}

}  // namespace

etcd_server::etcd_server(etcd_server_options options)
    : place_{place_for(options)}, options_{std::move(options)}, members_(options_.members) {
    for (auto& each : members_)
        each = {.client = free_port(), .peer = free_port()};
    if (options_.cuttable) {
        std::vector<std::uint16_t> targets;
        for (auto const& each : members_)
            targets.push_back(each.peer);
        peers_ = std::make_unique<etcd_peers>(std::move(targets));
    }
    if (options_.tls) make_certificates();
    start_all();
}

void etcd_server::start_all() {
    for (std::size_t each = 0; each < members_.size(); ++each)
        launch(each);
    for (std::size_t each = 0; each < members_.size(); ++each)
        await(each);
}

void etcd_server::begin_anew() {
    for (std::size_t each = 0; each < members_.size(); ++each) {
        kill(each);
        std::filesystem::remove_all(directory() + "/n" + std::to_string(each));
    }
    start_all();
}

etcd_server::~etcd_server() {
    for (std::size_t each = 0; each < members_.size(); ++each)
        kill(each);
}

std::string etcd_server::url() const {
    std::string out = options_.tls ? "etcds://" : "etcd://";
    for (std::size_t each = 0; each < members_.size(); ++each)
        out += (each == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(port(each));
    return out;
}

std::string etcd_server::url(std::size_t member) const {
    return (options_.tls ? "etcds://127.0.0.1:" : "etcd://127.0.0.1:") +
           std::to_string(port(member));
}

std::string etcd_server::certificates() const {
    return "ca=" + directory() + "/ca.pem&cert=" + directory() + "/client.pem&key=" + directory() +
           "/client.key";
}

void etcd_server::make_certificates() const {
    auto const file = [&](char const* name) { return (place_.path() / name).string(); };
    std::vector<std::string> const make{
        "openssl", "req",   "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
        "-nodes",  "-days", "2"};
    for (auto const* const name : {"ca", "other"}) {
        auto authority = make;
        authority.insert(authority.end(), {"-subj", "/CN=holdfast test", "-keyout",
                                           file(name) + ".key", "-out", file(name) + ".pem"});
        run(authority);
    }
    for (auto const* const name : {"server", "client"}) {
        auto leaf = make;
        leaf.insert(
            leaf.end(),
            {"-subj", std::string{"/CN="} + name, "-CA", file("ca.pem"), "-CAkey", file("ca.key"),
             "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext",
             "basicConstraints=CA:FALSE", "-addext", "extendedKeyUsage=serverAuth,clientAuth",
             "-keyout", file(name) + ".key", "-out", file(name) + ".pem"});
        run(leaf);
    }
}

void etcd_server::launch(std::size_t which) {
    auto& self = members_[which];
    std::string cluster;
    for (std::size_t each = 0; each < members_.size(); ++each)
        cluster += (each == 0 ? "n" : ",n") + std::to_string(each) + "=" +
                   address(peers_ ? peers_->port(each) : members_[each].peer, false);
    auto const client = address(self.client, options_.tls);
    auto const peer = address(self.peer, false);
    auto const reached = address(peers_ ? peers_->port(which) : self.peer, false);
    auto const at = directory() + "/n" + std::to_string(which);
    std::vector<std::string> words{"etcd",
                                   "--name",
                                   "n" + std::to_string(which),
                                   "--data-dir",
                                   at,
                                   "--listen-client-urls",
                                   client,
                                   "--advertise-client-urls",
                                   client,
                                   "--listen-peer-urls",
                                   peer,
                                   "--initial-advertise-peer-urls",
                                   reached,
                                   "--initial-cluster",
                                   cluster,
                                   "--initial-cluster-token",
                                   directory(),
                                   "--heartbeat-interval",
                                   "50",
                                   "--election-timeout",
                                   "500",
                                   "--logger",
                                   "zap",
                                   "--log-level",
                                   "warn"};
    if (options_.tls) {
        auto const file = [&](char const* name) { return directory() + "/" + name; };
        words.insert(words.end(),
                     {"--cert-file", file("server.pem"), "--key-file", file("server.key")});
        words.insert(words.end(), {"--trusted-ca-file", file("ca.pem")});
        if (options_.client_certificates) words.emplace_back("--client-cert-auth");
    }
    words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
    int const log = ::open((at + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    self.id = spawn(words, log);
    ::close(log);
    require(self.id > 0, "fork");
}

void etcd_server::await(std::size_t which) const {
    auto const healthy = [&] {
        try {
            run(control_command({"get", "--consistency=s", "none"},
                                address(port(which), options_.tls), {}));
            return true;
        } catch (std::runtime_error const& error) {  // who asks for a user is there
            return std::string{error.what()}.find("user name is empty") != std::string::npos;
        }
    };
    if (!eventually(healthy)) throw std::runtime_error{"etcd does not answer; see " + directory()};
}

std::vector<std::string> etcd_server::control_command(std::vector<std::string> const& words,
                                                      std::string const& endpoints,
                                                      std::string const& user) const {
    std::vector<std::string> out{"env",         "ETCDCTL_API=3",     "etcdctl",
                                 "--endpoints", endpoints,           "--dial-timeout",
                                 "2s",          "--command-timeout", "10s"};
    if (options_.tls)
        out.insert(out.end(), {"--cacert", directory() + "/ca.pem", "--cert",
                               directory() + "/client.pem", "--key", directory() + "/client.key"});
    if (!user.empty()) out.insert(out.end(), {"--user", user});
    out.insert(out.end(), words.begin(), words.end());
    return out;
}

std::string etcd_server::control(std::vector<std::string> const& words,
                                 std::string const& user) const {
    std::string endpoints;
    for (auto const& each : members_)
        if (each.id > 0)
            endpoints += (endpoints.empty() ? "" : ",") + address(each.client, options_.tls);
    return run(control_command(words, endpoints, user));
}

std::size_t etcd_server::count_keys(std::string const& user) const {
    auto const said = control({"get", "", "--prefix", "--keys-only"}, user);
    std::size_t lines = 0;
    for (std::size_t at = 0; at < said.size();) {
        auto const end = std::min(said.find('\n', at), said.size());
        lines += end > at ? 1U : 0U;
        at = end + 1;
    }
    return lines;
}

void etcd_server::want_users(std::string const& name, std::string const& password,
                             std::string const& prefix) const {
    control({"user", "add", administrator});
    control({"user", "grant-role", "root", "root"});
    control({"role", "add", "locks"});
    control({"role", "grant-permission", "--prefix=true", "locks", "readwrite", prefix});
    control({"user", "add", name + ":" + password});
    control({"user", "grant-role", name, "locks"});
    control({"auth", "enable"});
}

std::uint64_t etcd_server::revision() const {
    constexpr std::string_view field = "\"Revision\" : ";
    auto const said = control({"endpoint", "status", "--write-out=fields"});
    auto const at = said.find(field);
    return std::stoull(said.substr(at + field.size()));
}

void etcd_server::compact() const { control({"compact", std::to_string(revision())}); }

std::size_t etcd_server::leader() const {
    for (std::size_t each = 0; each < members_.size(); ++each) {
        if (members_[each].id <= 0) continue;
        auto const said =
            run(control_command({"endpoint", "status"}, address(port(each), options_.tls), {}));
        if (said.find(", true, ") != std::string::npos) return each;
    }
    throw std::runtime_error{"no member leads"};
}

// A line of `member list`: id, status, name, and more.
void etcd_server::cut_off(std::size_t member) {
    auto const said = control({"member", "list"});
    auto const name = said.find(", n" + std::to_string(member) + ",");
    if (name == std::string::npos) throw std::runtime_error{"no such member in: " + said};
    auto const begin = said.rfind('\n', name) + 1;  // npos + 1 is 0
    peers_->cut_off(member, said.substr(begin, said.find(',', begin) - begin));
}

std::uint64_t etcd_server::received(std::vector<std::string> const& methods) const {
    std::uint64_t out = 0;
    for (auto const& each : members_) {
        if (each.id <= 0) continue;
        std::istringstream lines{metrics_of(each.client)};
        for (std::string line; std::getline(lines, line);)
            for (auto const& method : methods)
                if (line.starts_with("grpc_server_msg_received_total{grpc_method=\"" + method +
                                     "\""))
                    out += static_cast<std::uint64_t>(std::stod(line.substr(line.rfind(' ') + 1)));
    }
    return out;
}

void etcd_server::stop(std::size_t member) {
    auto const id = members_[member].id;
    ::kill(id, SIGSTOP);
    int status = 0;
    require(::waitpid(id, &status, WUNTRACED) == id && WIFSTOPPED(status), "waitpid for a stop");
}

void etcd_server::resume(std::size_t member) { ::kill(members_[member].id, SIGCONT); }

void etcd_server::kill(std::size_t member) noexcept {
    auto& id = members_[member].id;
    if (id <= 0) return;
    ::kill(id, SIGKILL);
    ::waitpid(id, nullptr, 0);
    id = -1;
}

void etcd_server::start_dead() {
    std::vector<std::size_t> begun;
    for (std::size_t each = 0; each < members_.size(); ++each)
        if (members_[each].id <= 0) begun.push_back(each);
    for (auto const each : begun)
        launch(each);
    for (auto const each : begun)
        await(each);
}

void etcd_server::start(std::size_t member) {
    launch(member);
    await(member);
}

}  // namespace holdfast::support
