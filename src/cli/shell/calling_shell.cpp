#include "shell/calling_shell.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "exit_status.hpp"

namespace holdfast::cli {

namespace {

// 0 when there is none.
pid_t parent_of(pid_t process) {
    std::ifstream file{fmt::format("/proc/{}/stat", process)};
    std::string text;
    std::getline(file, text, '\0');
    // The name, in parentheses, may hold anything.
    auto const end = text.rfind(')');
    if (end == std::string::npos) return 0;
    std::istringstream fields{text.substr(end + 1)};
    std::string state;
    pid_t parent = 0;
    fields >> state >> parent;
    return parent;
}

}  // namespace

pid_t calling_shell(std::optional<pid_t> given) {
    pid_t const shell = given.value_or(::getppid());
    if (shell <= 1)
        throw usage_error{
            "there is no shell to tie the lock to: its process has ended, or is the first of all; "
            "--pid names another"};
    return shell;
}

base::descriptor watch_process(pid_t process) {
    base::descriptor out{static_cast<int>(::syscall(SYS_pidfd_open, process, 0))};
    if (!out)
        throw usage_error{fmt::format("the lock cannot be tied to process {}: {}", process,
                                      std::strerror(errno))};
    return out;
}

std::string process_name(pid_t process) {
    std::ifstream file{fmt::format("/proc/{}/comm", process)};
    std::string out;
    std::getline(file, out);
    return out;
}

std::optional<hold_reply> ask_ancestors(shell_claim claim, hold_request request) {
    if (claim.shell == ::getppid()) claim.shell = ::getpid();
    for (; claim.shell > 0; claim.shell = parent_of(claim.shell))
        if (auto reply = ask_holder(claim, request)) return reply;
    return std::nullopt;
}

}  // namespace holdfast::cli
