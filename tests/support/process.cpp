#include "support/process.hpp"

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/require.hpp"

namespace holdfast::support {

namespace {

struct pipe_ends {
    int read{-1};
    int write{-1};
};

pipe_ends make_pipe() {
    int ends[2];
    require(::pipe2(ends, O_CLOEXEC) == 0, "pipe2");
    return {ends[0], ends[1]};
}

}  // namespace

process::process(std::vector<std::string> command) {
    auto const input = make_pipe();
    auto const output = make_pipe();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input.read, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output.write, STDOUT_FILENO);
    std::vector<char*> arguments;
    for (auto& word : command)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    auto const fault =
        ::posix_spawn(&id_, command.front().c_str(), &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(input.read);
    ::close(output.write);
    to_ = input.write;
    from_ = output.read;
    errno = fault;
    require(fault == 0, command.front().c_str());
    // A process that is gone shows by what it does not answer.
    std::signal(SIGPIPE, SIG_IGN);
}

process::~process() {
    if (!status_) {
        ::kill(id_, SIGKILL);
        reap(0);
    }
    if (to_ >= 0) ::close(to_);
    ::close(from_);
}

void process::send(std::string_view line) {
    auto text = std::string{line} + '\n';
    require(::write(to_, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
            "write to a process");
}

std::optional<std::string> process::take_line() {
    auto const end = buffer_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    auto line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return line;
}

std::string process::read(std::chrono::milliseconds bound) {
    stopwatch const waited;
    for (;;) {
        if (auto line = take_line()) return *std::move(line);
        auto const left = bound - waited.elapsed();
        pollfd ready{from_, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0)
            throw std::runtime_error{"process " + std::to_string(id_) + " says nothing"};
        char bytes[4096];
        auto const count = ::read(from_, bytes, sizeof bytes);
        if (count == 0) throw std::runtime_error{"process " + std::to_string(id_) + " has ended"};
        if (count > 0) buffer_.append(bytes, static_cast<std::size_t>(count));
    }
}

void process::signal(int number) const { require(::kill(id_, number) == 0, "kill"); }

void process::stop() {
    signal(SIGSTOP);
    int status = 0;
    require(::waitpid(id_, &status, WUNTRACED) == id_ && WIFSTOPPED(status), "waitpid for a stop");
}

void process::resume() const { signal(SIGCONT); }

void process::kill() {
    signal(SIGKILL);
    reap(0);
}

bool process::reap(int options) {
    int status = 0;
    if (::waitpid(id_, &status, options) != id_) return false;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

int process::finish(std::chrono::milliseconds bound) {
    if (to_ >= 0) ::close(std::exchange(to_, -1));
    if (!status_ && !eventually([&] { return reap(WNOHANG); }, bound))
        throw std::runtime_error{"process " + std::to_string(id_) + " does not end"};
    return *status_;
}

}  // namespace holdfast::support
