#include "support/redis_server.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/eventually.hpp"
#include "support/require.hpp"

namespace holdfast::support {

namespace {

/// Has a program believe in another time, or reach others by other ways; see other_clock.cpp and other_network.cpp.
std::vector<std::string> surroundings_of(redis_server_options const& options) {
    std::string loaded;
    std::vector<std::string> out;
    if (options.clock_ahead != options.clock_ahead.zero()) {
        loaded = HOLDFAST_TEST_OTHER_CLOCK;
        out.push_back("HOLDFAST_TEST_CLOCK_AHEAD=" + std::to_string(options.clock_ahead.count()));
    }
    if (!options.place.routes.empty()) {
        loaded += (loaded.empty() ? "" : ":") + std::string{HOLDFAST_TEST_OTHER_NETWORK};
        out.push_back("HOLDFAST_TEST_ROUTES=" + options.place.routes);
    }
    if (!out.empty()) out.insert(out.begin(), {"env", "LD_PRELOAD=" + loaded});
    return out;
}

/// Runs a program with its output in `log`; -1 when it cannot be started.
pid_t spawn(std::vector<std::string> words, std::string const& log) {
    std::vector<char*> arguments;
    for (auto& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    auto const parent = ::getpid();
    auto const child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(126);
    int const out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int const in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execvp(arguments.front(), arguments.data());
    ::_exit(127);
}

void run(std::vector<std::string> const& words, std::string const& log) {
    auto const child = spawn(words, log);
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0)
        throw std::runtime_error{"it failed, see " + log + ": " + words.front()};
}

struct connection_ended : std::runtime_error {
    connection_ended() : runtime_error{"redis has ended the connection"} {}
};

/// A blocking connection, closed when the object ends.
class wire {
public:
    explicit wire(std::string const& path)
        : socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        sockaddr_un where{};
        where.sun_family = AF_UNIX;
        std::strncpy(where.sun_path, path.c_str(), sizeof where.sun_path - 1);
        auto const* const raw = static_cast<sockaddr const*>(static_cast<void const*>(&where));
        connected_ = ::connect(socket_, raw, sizeof where) == 0;
        timeval const patience{.tv_sec = 60, .tv_usec = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    ~wire() { ::close(socket_); }
    wire(wire const&) = delete;
    wire& operator=(wire const&) = delete;

    [[nodiscard]] bool is_connected() const noexcept { return connected_; }

    void send(std::vector<std::string> const& words) const {
        auto text = "*" + std::to_string(words.size()) + "\r\n";
        for (auto const& word : words)
            text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
        auto const sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) throw connection_ended{};
        require(sent == static_cast<ssize_t>(text.size()), "send to redis");
    }

    [[nodiscard]] std::string read() const {
        auto const line = read_line();
        auto const rest = line.substr(1);
        if (line[0] == '+' || line[0] == ':') return rest;
        if (line[0] == '$') return rest == "-1" ? "" : read_bytes(std::stoul(rest));
        if (line[0] != '*') return line;
        std::string out;
        for (auto left = std::stol(rest); left > 0; --left)
            out += (out.empty() ? "" : "\n") + read();
        return out;
    }

private:
    [[nodiscard]] char read_one() const {
        char out = 0;
        auto const got = ::recv(socket_, &out, 1, 0);
        if (got == 0 || (got < 0 && errno == ECONNRESET)) throw connection_ended{};
        if (got != 1) throw std::runtime_error{"redis says nothing"};
        return out;
    }
    [[nodiscard]] std::string read_line() const {
        std::string out;
        while (!out.ends_with("\r\n"))
            out += read_one();
        out.resize(out.size() - 2);
        return out;
    }
    [[nodiscard]] std::string read_bytes(std::size_t count) const {
        std::string out;
        while (out.size() < count + 2)
            out += read_one();
        out.resize(count);
        return out;
    }

    int socket_;
    bool connected_{false};
};

}  // namespace

redis_server::redis_server(redis_server_options options)
    : options_{std::move(options)},
      port_{options_.place.port != 0 ? options_.place.port : free_port()} {
    if (options_.tls && options_.certificates.empty()) make_certificates();
    start();
}

redis_server::~redis_server() { kill(); }

std::string redis_server::url() const {
    return (options_.tls ? "rediss://localhost:" : "redis://127.0.0.1:") + std::to_string(port_);
}

void redis_server::make_certificates() const {
    auto const log = (place_.path() / "openssl.log").string();
    auto const file = [&](char const* name) { return (place_.path() / name).string(); };
    std::vector<std::string> const make{
        "openssl", "req",   "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
        "-nodes",  "-days", "2"};
    auto authority = make;
    authority.insert(authority.end(), {"-subj", "/CN=holdfast test", "-keyout", file("ca.key"),
                                       "-out", file("ca.pem")});
    run(authority, log);
    auto server = make;
    server.insert(
        server.end(),
        {"-subj", "/CN=server", "-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-addext",
         "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE",
         "-keyout", file("server.key"), "-out", file("server.pem")});
    run(server, log);
}

void redis_server::start() {
    auto const port = std::to_string(port_);
    auto words = surroundings_of(options_);
    words.push_back("redis-server");
    if (!options_.sentinel_of.empty()) {
        // It keeps what it learns in its configuration.
        auto const path = directory() + "/sentinel.conf";
        if (!std::filesystem::exists(path)) std::ofstream{path} << options_.sentinel_of;
        words.insert(words.end(), {path, "--sentinel"});
    }
    words.insert(words.end(),
                 {"--bind", "127.0.0.1", "--dir", directory(), "--save", "", "--appendonly", "no",
                  "--unixsocket", socket_path(), "--databases", "1000"});
    if (options_.tls) {
        auto const at = certificates() + "/";
        words.insert(words.end(),
                     {"--port", "0", "--tls-port", port, "--tls-cert-file", at + "server.pem",
                      "--tls-key-file", at + "server.key", "--tls-ca-cert-file", at + "ca.pem",
                      "--tls-auth-clients", "no"});
    } else {
        words.insert(words.end(), {"--port", port});
    }
    words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
    id_ = spawn(words, directory() + "/log");
    require(id_ > 0, "fork");
    if (!eventually([this] { return answers(); }))
        throw std::runtime_error{"redis-server does not answer; see " + directory() + "/log"};
    // Or what is tried with it would be tried with nothing.
    if (options_.clock_ahead != options_.clock_ahead.zero() && !has_wanted_clock())
        throw std::runtime_error{"redis-server has the clock of the machine"};
}

bool redis_server::has_wanted_clock() const {
    std::chrono::seconds const theirs{std::stoll(ask({"TIME"}))};
    auto const ours = std::chrono::system_clock::now().time_since_epoch();
    constexpr std::chrono::seconds tolerance{2};
    auto const difference = theirs - ours - options_.clock_ahead;
    return difference > -tolerance && difference < tolerance;
}

bool redis_server::answers() const {
    wire const it{socket_path()};
    if (!it.is_connected()) return false;
    it.send({"PING"});
    auto const words = it.read();
    return words == "PONG" || words.starts_with("-NOAUTH") || words.starts_with("-LOADING");
}

std::string redis_server::ask(std::vector<std::string> const& words) const {
    // A sentinel that makes a server a master or a replica ends the connections of its clients.
    for (int tries = 1;; ++tries) {
        wire const to{socket_path()};
        if (!to.is_connected()) throw std::runtime_error{"redis cannot be reached"};
        try {
            to.send(words);
            return to.read();
        } catch (connection_ended const&) {
            if (tries == 5) throw;
        }
    }
}

void redis_server::stop() {
    ::kill(id_, SIGSTOP);
    int status = 0;
    require(::waitpid(id_, &status, WUNTRACED) == id_ && WIFSTOPPED(status), "waitpid for a stop");
    stopped_ = true;
}

void redis_server::resume() {
    if (id_ > 0) ::kill(id_, SIGCONT);
    stopped_ = false;
}

void redis_server::kill() noexcept {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = -1;
    stopped_ = false;
}

struct redis_user::state {
    wire to;
};

redis_user::redis_user(redis_server const& at, std::string const& name, std::string const& password)
    : state_{new state{wire{at.socket_path()}}} {
    if (!state_->to.is_connected()) throw std::runtime_error{"redis cannot be reached"};
    if (auto const said = ask({"AUTH", name, password}); said != "OK")
        throw std::runtime_error{"redis does not let '" + name + "' in: " + said};
}

redis_user::~redis_user() = default;

std::string redis_user::ask(std::vector<std::string> const& words) {
    state_->to.send(words);
    return hear();
}

std::string redis_user::hear() { return state_->to.read(); }

}  // namespace holdfast::support
