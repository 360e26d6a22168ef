#include "support/zookeeper_server.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
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

// Every write of ZooKeeper is synced, and a disk that many share takes its time.
std::filesystem::path place_for(zookeeper_server_options const& options) {
    std::filesystem::path const memory{"/dev/shm"};
    if (!options.on_disk && ::access(memory.c_str(), W_OK) == 0) return memory;
    return std::filesystem::temp_directory_path();
}

// What a member tells everybody about itself; it has a mode as soon as it serves clients.
std::string said_by(std::uint16_t port) {
    int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto const there = loopback(port);
    std::string out;
    timeval const patience{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::connect(socket, raw(there), sizeof there) == 0 &&
        ::send(socket, "srvr", 4, MSG_NOSIGNAL) == 4) {
        std::array<char, 4096> buffer{};
        for (ssize_t got = 0; (got = ::recv(socket, buffer.data(), buffer.size(), 0)) > 0;)
            out.append(buffer.data(), static_cast<std::size_t>(got));
    }
    ::close(socket);
    return out;
}

}  // namespace

zookeeper_server::zookeeper_server(zookeeper_server_options options)
    : place_{place_for(options)}, options_{options}, members_(options.members) {
    std::vector<std::uint16_t> quorum;
    std::vector<std::uint16_t> election;
    std::vector<std::size_t> all;
    for (auto& each : members_) {
        each = {.client = free_port(), .quorum = free_port(), .election = free_port()};
        quorum.push_back(each.quorum);
        election.push_back(each.election);
        all.push_back(all.size());
    }
    if (options_.cuttable) {
        links_ = std::make_unique<zookeeper_links>(std::move(quorum));
        election_links_ = std::make_unique<zookeeper_links>(std::move(election));
    }
    start_all(all);
}

zookeeper_server::~zookeeper_server() {
    for (std::size_t each = 0; each < members_.size(); ++each)
        kill(each);
}

std::string zookeeper_server::options_of_url() const {
    return "?tick=" + std::to_string(options_.tick.count()) + "ms";
}

std::string zookeeper_server::url() const {
    std::string out = "zookeeper://";
    for (std::size_t each = 0; each < members_.size(); ++each)
        out += (each == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(port(each));
    return out + options_of_url();
}

std::string zookeeper_server::url(std::size_t member) const {
    return "zookeeper://127.0.0.1:" + std::to_string(port(member)) + options_of_url();
}

void zookeeper_server::launch(std::size_t which) {
    auto const at = directory() + "/n" + std::to_string(which);
    std::filesystem::create_directories(at);
    std::ofstream{at + "/myid"} << which + 1 << '\n';
    std::ofstream config{at + ".cfg"};
    config << "tickTime=" << options_.tick.count() << "\ndataDir=" << at
           << "\nclientPort=" << members_[which].client
           << "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n"
              "maxSessionTimeout="
           << options_.longest_session.count()
           << "\ninitLimit=100\nsyncLimit=" << options_.sync_limit << "\npreAllocSize=1024\n";
    if (members_.size() > 1) {
        config << "standaloneEnabled=false\n";
        for (std::size_t each = 0; each < members_.size(); ++each)
            config << "server." << each + 1 << "=127.0.0.1:"
                   << (links_ && each != which ? links_->port(which, each) : members_[each].quorum)
                   << ':'
                   << (links_ && each != which ? election_links_->port(which, each)
                                               : members_[each].election)
                   << '\n';
    }
    config.close();
    auto const file = at + ".cfg";
    std::vector<std::string> words{
        "java", "-Xms24m", "-Xmx96m", "-XX:+UseSerialGC", "-Xshare:auto",
        options_.fast ? "-XX:+TieredCompilation" : "-XX:TieredStopAtLevel=1",
        options_.on_disk ? "-Dzookeeper.forceSync=yes" : "-Dzookeeper.forceSync=no",
        // Else members that have not agreed for a while speak to each other once in a minute.
        "-Dzookeeper.fastleader.maxNotificationInterval=1000", "-cp",
        "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar",
        "org.apache.zookeeper.server.quorum.QuorumPeerMain", file};
    std::vector<char*> arguments;
    for (auto& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int const log = ::open((at + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    auto const parent = ::getpid();
    auto& id = members_[which].id;
    id = ::fork();
    if (id == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(126);
        int const in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        ::dup2(in, STDIN_FILENO);
        ::dup2(log, STDOUT_FILENO);
        ::dup2(log, STDERR_FILENO);
        ::execvp(arguments.front(), arguments.data());
        ::_exit(127);
    }
    ::close(log);
    require(id > 0, "fork");
}

void zookeeper_server::start_all(std::vector<std::size_t> const& which) {
    for (auto const each : which)
        launch(each);
    for (auto const each : which)
        if (!eventually([&] { return said_by(port(each)).find("Mode: ") != std::string::npos; }))
            throw std::runtime_error{"ZooKeeper does not answer; see " + directory()};
}

void zookeeper_server::start_dead() {
    std::vector<std::size_t> dead;
    for (std::size_t each = 0; each < members_.size(); ++each)
        if (members_[each].id <= 0) dead.push_back(each);
    start_all(dead);
}

void zookeeper_server::begin_anew() {
    for (std::size_t each = 0; each < members_.size(); ++each) {
        kill(each);
        std::filesystem::remove_all(directory() + "/n" + std::to_string(each));
    }
    start_dead();
}

std::string zookeeper_server::control(std::string const& command) const {
    auto const line =
        "java -Xmx64m -XX:TieredStopAtLevel=1 -cp /usr/share/java/zookeeper.jar:"
        "/usr/share/java/slf4j-nop.jar:/usr/share/java/commons-cli.jar "
        "org.apache.zookeeper.ZooKeeperMain -server 127.0.0.1:" +
        std::to_string(port()) + " " + command + " 2>&1 </dev/null";
    std::unique_ptr<FILE, int (*)(FILE*)> pipe{::popen(line.c_str(), "r"), &::pclose};
    require(pipe != nullptr, "popen");
    std::string out;
    std::array<char, 4096> piece{};
    for (std::size_t count = 0;
         (count = std::fread(piece.data(), 1, piece.size(), pipe.get())) > 0;)
        out.append(piece.data(), count);
    if (::pclose(pipe.release()) != 0) throw std::runtime_error{command + ": " + out};
    return out;
}

bool zookeeper_server::leads(std::size_t member) const {
    auto const said = said_by(port(member));
    return said.find("Mode: leader") != std::string::npos ||
           said.find("Mode: standalone") != std::string::npos;
}

std::size_t zookeeper_server::leader() const {
    for (std::size_t each = 0; each < members_.size(); ++each)
        if (members_[each].id > 0 && leads(each)) return each;
    throw std::runtime_error{"no member leads"};
}

// Else a leader that was cut off may be elected again by those who cannot follow it, and again.
void zookeeper_server::cut_off_from(std::size_t follower, std::size_t leader) {
    links_->cut(follower, leader);
    election_links_->cut(follower, leader);
    election_links_->cut(leader, follower);
}

void zookeeper_server::heal() {
    links_->heal();
    election_links_->heal();
}

void zookeeper_server::cut_off(std::size_t leader) {
    for (std::size_t each = 0; each < members_.size(); ++each)
        if (each != leader) cut_off_from(each, leader);
}

std::uint64_t zookeeper_server::nodes(std::size_t member) const {
    constexpr std::string_view before = "Node count: ";
    auto const said = said_by(port(member));
    auto const found = said.find(before);
    if (found == std::string::npos) throw std::runtime_error{"a member does not answer"};
    return std::stoull(said.substr(found + before.size()));
}

void zookeeper_server::stop(std::size_t member) {
    auto const id = members_[member].id;
    ::kill(id, SIGSTOP);
    int status = 0;
    require(::waitpid(id, &status, WUNTRACED) == id && WIFSTOPPED(status), "waitpid for a stop");
}

void zookeeper_server::resume(std::size_t member) { ::kill(members_[member].id, SIGCONT); }

void zookeeper_server::kill(std::size_t member) noexcept {
    auto& id = members_[member].id;
    if (id <= 0) return;
    ::kill(id, SIGKILL);
    ::waitpid(id, nullptr, 0);
    id = -1;
}

}  // namespace holdfast::support
