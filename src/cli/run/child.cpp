#include "run/child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "exit_status.hpp"

namespace holdfast::cli {

namespace {

struct launch {
    char* const* program;
    char* const* environment;
    shared_page& page;
    signal_inbox const& signals;
    hold_ties const& ties;
    int terminal;
    pid_t parent;
};

// Leaves the command a copy, out of the way of the numbers that scripts use. Numbers from 64 on would
// cost every process a larger table.
void pass_on(int descriptor) noexcept {
    constexpr int lowest = 60;
    if (descriptor < 0 || ::fcntl(descriptor, F_DUPFD, lowest) >= 0) return;
    [[maybe_unused]] int const anywhere = ::dup(descriptor);
}

// False when the holder is dead already.
bool tie_to_hold(hold_ties const& ties) noexcept {
    pass_on(ties.presence);
    if (ties.death == nullptr) return true;
    pass_on(ties.death->reading_end());
    return ties.death->arm(::getpid());
}

// Runs in the memory of the parent, which stands still meanwhile: system calls only.
[[noreturn]] void become(launch const& launch) noexcept {
    ::setpgid(0, 0);
    launch.page.group.store(::getpid());
    // From here on whoever ends the command knows our group. Had it been ended before, they may
    // have looked already.
    if (launch.page.abandoned.load() || launch.page.kill_at.load() != 0)
        ::_exit(exit_status::system);
    if (!tie_to_hold(launch.ties)) ::_exit(exit_status::system);
    // For a command that closes what it was given, when both of them are killed at once.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != launch.parent) ::_exit(exit_status::system);
    if (launch.terminal >= 0) ::tcsetpgrp(launch.terminal, ::getpid());
    launch.signals.restore();
    ::execvpe(launch.program[0], launch.program, launch.environment);
    int const fault = errno;
    launch.page.exec_error.store(fault);
    ::_exit(fault == ENOENT ? exit_status::not_found : exit_status::cannot_execute);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> out;
    out.reserve(words.size() + 1);
    for (auto& word : words)
        out.push_back(word.data());
    out.push_back(nullptr);
    return out;
}

std::vector<std::string> merged(child_environment const& environment) {
    std::vector<std::string> out{"HOLDFAST_NAME=" + environment.name,
                                 "HOLDFAST_TOKEN=" + environment.token,
                                 "HOLDFAST_STORE=" + environment.store};
    if (environment.value) out.push_back("HOLDFAST_VALUE=" + *environment.value);
    constexpr std::array ours{
        "HOLDFAST_NAME=", "HOLDFAST_TOKEN=", "HOLDFAST_STORE=", "HOLDFAST_VALUE="};
    constexpr std::array secrets{
        "HOLDFAST_REDIS_PASSWORD=", "HOLDFAST_REDIS_SENTINEL_PASSWORD=", "HOLDFAST_ETCD_PASSWORD="};
    auto const begins = [](std::string_view text, auto const& names) {
        return std::ranges::any_of(names, [&](char const* name) { return text.starts_with(name); });
    };
    for (char** entry = ::environ; entry && *entry; ++entry) {
        std::string_view const text{*entry};
        if (begins(text, secrets) && !environment.has_credentials) continue;
        if (!begins(text, ours)) out.emplace_back(text);
    }
    return out;
}

}  // namespace

pid_t start_child(std::vector<std::string> const& program, child_environment const& environment,
                  shared_page& page, signal_inbox const& signals, hold_ties const& ties,
                  int terminal) {
    auto words = program;
    auto variables = merged(environment);
    auto const argv = pointers(words);
    auto const envp = pointers(variables);
    launch const launch{argv.data(), envp.data(), page, signals, ties, terminal, ::getpid()};
    // vfork: copies no page tables, and returns only when the command runs or has failed to.
    pid_t const child = ::vfork();
    if (child == 0) become(launch);
    if (child < 0)
        throw std::system_error{errno, std::generic_category(), "cannot start a process"};
    return child;
}

}  // namespace holdfast::cli
