#include "support/mysql_server.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
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
#include "support/require.hpp"

namespace holdfast::support {

namespace {

namespace files = std::filesystem;

passwd const* unprivileged() {
    if (::getuid() != 0) return nullptr;
    for (char const* const name : {"mysql", "nobody"})
        if (auto const* const found = ::getpwnam(name)) return found;
    throw std::runtime_error{"there is no user to run MariaDB as"};
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

void hand_over(files::path const& what) {
    if (auto const* const user = unprivileged())
        require(::chown(what.c_str(), user->pw_uid, user->pw_gid) == 0, "chown");
}

// The options that decide what the files of a new server look like.
std::vector<std::string> const shape{"--no-defaults", "--innodb-log-file-size=8M",
                                     "--innodb-data-file-path=ibdata1:4M:autoextend"};

// The data of a new server, made once for all tests of a build: it takes seconds.
files::path fresh_data(files::path const& scratch) {
    files::path const home{HOLDFAST_TEST_MYSQL_DATA};
    if (files::exists(home)) return home;
    auto words = shape;
    words.insert(words.begin(), "mariadb-install-db");
    words.insert(words.end(),
                 {"--datadir=" + (scratch / "fresh").string(), "--tmpdir=" + scratch.string(),
                  "--skip-test-db", "--auth-root-authentication-method=normal"});
    run(words, (scratch / "install.log").string());
    auto const other = home.string() + "." + std::to_string(::getpid());
    files::copy(scratch / "fresh", other, files::copy_options::recursive);
    files::remove_all(scratch / "fresh");
    std::error_code beaten;
    files::rename(other, home, beaten);
    if (beaten) files::remove_all(other);
    return home;
}

}  // namespace

mysql_server::mysql_server(mysql_server_options options)
    : options_{std::move(options)}, port_{free_port()} {
    files::permissions(place_.path(), files::perms{0755});
    hand_over(place_.path());
    make_data();
    start();
    ask("CREATE DATABASE IF NOT EXISTS holdfast", "mysql");
}

mysql_server::~mysql_server() { kill(); }

void mysql_server::make_data() {
    auto const data = place_.path() / "data";
    files::copy(fresh_data(place_.path()), data, files::copy_options::recursive);
    hand_over(data);
    for (auto const& each : files::recursive_directory_iterator{data})
        hand_over(each.path());
    if (options_.tls) make_certificates();
}

void mysql_server::make_certificates() const {
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

void mysql_server::start() {
    auto words = shape;
    words.insert(words.begin(), "mariadbd");
    words.insert(
        words.end(),
        // Where everybody keeps such things may not be open to the server's own user.
        {"--datadir=" + directory() + "/data", "--tmpdir=" + directory(),
         "--port=" + std::to_string(port_), "--bind-address=127.0.0.1", "--socket=" + socket(),
         "--pid-file=" + directory() + "/pid", "--skip-log-bin", "--innodb-buffer-pool-size=32M",
         "--debug-no-sync", "--max-connections=300",
         std::string{"--innodb-flush-log-at-trx-commit="} + (options_.durable ? "1" : "2")});
    if (options_.tls)
        words.insert(words.end(),
                     {"--ssl-cert=" + directory() + "/server.pem",
                      "--ssl-key=" + directory() + "/server.key", "--ssl-ca=" + authority()});
    words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
    if (options_.disk_fills)
        words.insert(words.begin(),
                     {"/usr/bin/env", std::string{"LD_PRELOAD="} + HOLDFAST_TEST_OTHER_DISK,
                      "HOLDFAST_TEST_DISK_FULL=" + directory() + "/full"});
    id_ = spawn(words, directory() + "/log");
    if (!eventually([this] { return answers(); }))
        throw std::runtime_error{"mariadbd does not answer; see " + directory() + "/log"};
}

bool mysql_server::answers() const {
    try {
        return ask("SELECT 1", "mysql") == "1\n";
    } catch (std::runtime_error const&) {
        return false;
    }
}

std::string mysql_server::ask(std::string const& sql, std::string const& database) const {
    static std::atomic<unsigned> asked{0};  // several threads may ask at once
    auto const file = directory() + "/question-" + std::to_string(++asked) + ".sql";
    std::ofstream{file} << sql << ";\n";
    auto const command = "mariadb --no-defaults -N -B -uroot -S " + socket() + " " + database +
                         " <" + file + " 2>&1";
    std::unique_ptr<FILE, int (*)(FILE*)> pipe{::popen(command.c_str(), "r"), &::pclose};
    require(pipe != nullptr, "popen");
    std::string out;
    std::array<char, 4096> piece{};
    for (std::size_t count = 0;
         (count = std::fread(piece.data(), 1, piece.size(), pipe.get())) > 0;)
        out.append(piece.data(), count);
    bool const failed = ::pclose(pipe.release()) != 0;
    std::filesystem::remove(file);
    if (failed) throw std::runtime_error{"mariadb: " + out};
    return out;
}

std::string mysql_server::url(std::string const& login, std::string const& database) const {
    return "mysql://" + login + "@" + (options_.tls ? "localhost:" : "127.0.0.1:") +
           std::to_string(port_) + "/" + database;
}

void mysql_server::lose_data() {
    files::remove_all(place_.path() / "data");
    make_data();
    // That of the database, which is there and empty.
    auto const database = place_.path() / "data" / "holdfast";
    files::create_directory(database);
    hand_over(database);
}

void mysql_server::clear() {
    std::istringstream ids{
        ask("SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user <> "
            "'system user'")};
    for (std::string id; ids >> id;)
        try {
            ask("KILL " + id);
        } catch (std::runtime_error const&) {  // it has gone by itself
        }
    ask("DROP TABLE IF EXISTS holdfast_meta, holdfast_mail, holdfast_line, holdfast_head, "
        "holdfast_session, holdfast_ballot; DROP SEQUENCE IF EXISTS holdfast_stamp");
}

void mysql_server::fill_disk() const {
    if (!options_.disk_fills) throw std::logic_error{"the server's disk does not fill"};
    std::ofstream{directory() + "/full"} << '\n';
}

void mysql_server::clear_disk() const { files::remove(directory() + "/full"); }

// All of its threads, which takes a moment: one of them may be answering.
void mysql_server::stop() {
    ::kill(id_, SIGSTOP);
    int status = 0;
    ::waitpid(id_, &status, WUNTRACED);
}

void mysql_server::resume() { ::kill(id_, SIGCONT); }

void mysql_server::kill() noexcept {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = -1;
}

}  // namespace holdfast::support
