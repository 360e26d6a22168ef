#include "support/postgres_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
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

passwd const* unprivileged() {
    if (::getuid() != 0) return nullptr;
    for (char const* const name : {"postgres", "nobody"})
        if (auto const* const found = ::getpwnam(name)) return found;
    throw std::runtime_error{"there is no user to run PostgreSQL as"};
}

/// Where initdb and postgres are: Debian keeps them out of the path.
std::string programs() {
    std::string out;
    for (auto const& each : std::filesystem::directory_iterator{"/usr/lib/postgresql"})
        if (std::filesystem::exists(each.path() / "bin" / "postgres"))
            out = std::max(out, (each.path() / "bin").string());
    if (out.empty()) throw std::runtime_error{"there is no PostgreSQL server under /usr/lib"};
    return out;
}

/// Runs a program with its output in `log`.
pid_t spawn(std::vector<std::string> words, std::string const& log) {
    std::vector<char*> arguments;
    for (auto& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    auto const* const user = unprivileged();
    auto const parent = ::getpid();
    auto const child = ::fork();
    require(child >= 0, "fork");
    if (child != 0) return child;
    ::setpgid(0, 0);
    int const out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    int const in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
                            ::setuid(user->pw_uid) != 0))
        ::_exit(125);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // forgotten when the user changes
    if (::getppid() != parent) ::_exit(126);
    ::execvp(arguments.front(), arguments.data());
    ::_exit(127);
}

void run(std::vector<std::string> const& words, std::string const& log) {
    int status = 0;
    auto const child = spawn(words, log);
    if (::waitpid(child, &status, 0) == child && status == 0) return;
    std::ifstream in{log};
    throw std::runtime_error{words.front() +
                             " failed: " + std::string{std::istreambuf_iterator<char>{in}, {}}};
}

void hand_over(std::filesystem::path const& what) {
    std::filesystem::permissions(what, std::filesystem::perms{0755});
    if (auto const* const user = unprivileged())
        require(::chown(what.c_str(), user->pw_uid, user->pw_gid) == 0, "chown");
}

/// The data of a new server, made once for all of a process: it takes seconds.
std::string fresh_data() {
    static temporary_directory const place;
    static auto const made = [] {
        hand_over(place.path());
        auto const at = place.path().string();
        run({programs() + "/initdb", "-D", at + "/data", "-A", "trust", "-U", "postgres",
             "--no-sync", "-E", "UTF8", "--locale=C"},
            at + "/initdb.log");
        return at + "/data";
    }();
    return made;
}

std::vector<pid_t> children_of(pid_t id) {
    auto const name = std::to_string(id);
    std::ifstream in{"/proc/" + name + "/task/" + name + "/children"};
    return {std::istream_iterator<pid_t>{in}, {}};
}

/// Returns when it has stopped, or is gone.
void stop_process(pid_t id) {
    ::kill(id, SIGSTOP);
    auto const stands_still = [id] {
        std::ifstream in{"/proc/" + std::to_string(id) + "/stat"};
        std::string line;
        if (!std::getline(in, line)) return true;
        // The name before it may have spaces.
        return std::string_view{"TtZX"}.find(line.at(line.rfind(')') + 2)) !=
               std::string_view::npos;
    };
    require(eventually(stands_still), "SIGSTOP");
}

void end(pid_t& id, int signal) noexcept {
    if (id <= 0) return;
    ::kill(id, SIGCONT);
    ::kill(id, signal);
    ::waitpid(id, nullptr, 0);
    id = -1;
}

}  // namespace

postgres_server::postgres_server(postgres_server_options options)
    : options_{std::move(options)}, port_{free_port()} {
    hand_over(place_.path());
    make_data();
    start();
}

postgres_server::~postgres_server() { kill(); }

void postgres_server::make_data() {
    auto const log = directory() + "/initdb.log";
    if (!options_.standby_of.empty()) {
        run({programs() + "/pg_basebackup", "-D", directory() + "/data", "-R", "-X", "stream", "-c",
             "fast", "-d", options_.standby_of},
            log);
        return;
    }
    run({"cp", "-a", fresh_data(), directory() + "/data"}, log);
    std::ofstream{directory() + "/data/pg_hba.conf"}
        << "local all all trust\nlocal replication all trust\n"
        << "host replication all 127.0.0.1/32 trust\n"
        << "host all all 127.0.0.1/32 " << options_.authentication << '\n';
    if (options_.tls) make_certificates();
}

void postgres_server::make_certificates() const {
    auto const log = directory() + "/openssl.log";
    auto const file = [&](char const* name) { return directory() + "/" + name; };
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

void postgres_server::start() {
    std::vector<std::string> words{programs() + "/postgres",     "-D", directory() + "/data", "-p",
                                   std::to_string(port_),        "-k", directory(),           "-c",
                                   "listen_addresses=127.0.0.1", "-c", "shared_buffers=16MB", "-c",
                                   "max_connections=200"};
    // A server that is killed leaves its segments behind: here they go with its directory, and not in /dev/shm.
    words.insert(words.end(), {"-c", "dynamic_shared_memory_type=mmap"});
    // What a server has handed to the system is there when it was killed. Machines do not fail here, and disks are slow
    // beside compilers.
    words.insert(words.end(), {"-c", "fsync=off"});
    if (options_.tls)
        for (auto const& each :
             {"ssl=on", "ssl_cert_file=../server.pem", "ssl_key_file=../server.key"})
            words.insert(words.end(), {"-c", each});
    words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
    if (options_.disk_fills)
        words.insert(words.begin(),
                     {"/usr/bin/env", std::string{"LD_PRELOAD="} + HOLDFAST_TEST_OTHER_DISK,
                      "HOLDFAST_TEST_DISK_FULL=" + directory() + "/full"});
    id_ = spawn(words, directory() + "/log");
    if (!eventually([this] { return answers(); }))
        throw std::runtime_error{"postgres does not answer; see " + directory() + "/log"};
}

bool postgres_server::answers() const {
    try {
        return ask("SELECT 1") == "1\n";
    } catch (std::runtime_error const&) {
        return false;
    }
}

std::string postgres_server::ask(std::string const& sql, std::string const& database) const {
    auto const file = directory() + "/question.sql";
    std::ofstream{file} << sql << ";\n";
    auto const command = "psql -X -q -A -t -v ON_ERROR_STOP=1 -h " + directory() + " -p " +
                         std::to_string(port_) + " -U postgres -d " + database + " -f " + file +
                         " 2>&1";
    std::unique_ptr<FILE, int (*)(FILE*)> pipe{::popen(command.c_str(), "r"), &::pclose};
    require(pipe != nullptr, "popen");
    std::string out;
    std::array<char, 4096> piece{};
    for (std::size_t count = 0;
         (count = std::fread(piece.data(), 1, piece.size(), pipe.get())) > 0;)
        out.append(piece.data(), count);
    if (::pclose(pipe.release()) != 0) throw std::runtime_error{"psql: " + out};
    return out;
}

std::string postgres_server::url(std::string const& login, std::string const& database) const {
    return "postgres://" + login + "@" + (options_.tls ? "localhost:" : "127.0.0.1:") +
           std::to_string(port_) + "/" + database;
}

void postgres_server::clear() const {
    ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
        "'holdfast'");
    ask("SET client_min_messages = error; DROP TABLE IF EXISTS holdfast_meta, holdfast_session, "
        "holdfast_head, holdfast_line, holdfast_ballot; DROP SEQUENCE IF EXISTS holdfast_stamp");
}

void postgres_server::fill_disk() const {
    if (!options_.disk_fills) throw std::logic_error{"the server's disk does not fill"};
    std::ofstream{directory() + "/full"} << '\n';
}

void postgres_server::clear_disk() const { std::filesystem::remove(directory() + "/full"); }

// A signal takes a moment: the postmaster may be about to start one more process, which would go on answering.
void postgres_server::stop() {
    stop_process(id_);
    for (auto const each : children_of(id_))
        stop_process(each);
}

void postgres_server::resume() {
    for (auto const each : children_of(id_))
        ::kill(each, SIGCONT);
    ::kill(id_, SIGCONT);
}

void postgres_server::kill() noexcept {
    if (id_ <= 0) return;
    stop_process(id_);  // from here on it starts no more of them
    auto const children = children_of(id_);
    ::kill(id_, SIGKILL);
    for (auto const each : children)
        ::kill(each, SIGKILL);
    end(id_, SIGKILL);
    // A new server would not start over their shared memory.
    (void)eventually([&] {
        return std::ranges::none_of(children, [](pid_t each) { return ::kill(each, 0) == 0; });
    });
}

void postgres_server::lose_data() {
    std::filesystem::remove_all(directory() + "/data");
    make_data();
}

pgbouncer::pgbouncer(postgres_server const& behind) : port_{free_port()} {
    hand_over(place_.path());
    auto const at = place_.path().string();
    std::ofstream{at + "/users"} << "\"postgres\" \"\"\n";
    std::ofstream{at + "/pgbouncer.ini"}
        << "[databases]\n* = host=127.0.0.1 user=postgres port=" << behind.port()
        << "\n[pgbouncer]\n"
        << "listen_addr = 127.0.0.1\nlisten_port = " << port_ << "\nunix_socket_dir =\n"
        << "auth_type = any\nauth_file = " << at << "/users\npool_mode = transaction\n"
        << "default_pool_size = 4\nignore_startup_parameters = extra_float_digits\n"
        // It lets nobody through for so long (15 s) after the server has refused it once.
        << "server_login_retry = 1\n";
    id_ = spawn({"pgbouncer", at + "/pgbouncer.ini"}, at + "/log");
    if (!eventually([this] {
            int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            auto const where = loopback(port_);
            bool const met = ::connect(socket, raw(where), sizeof where) == 0;
            ::close(socket);
            return met;
        }))
        throw std::runtime_error{"pgbouncer does not answer; see " + at + "/log"};
}

pgbouncer::~pgbouncer() { end(id_, SIGKILL); }

std::string pgbouncer::url() const {
    return "postgres://postgres@127.0.0.1:" + std::to_string(port_) + "/postgres";
}

}  // namespace holdfast::support
