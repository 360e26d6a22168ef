// Threads of the library, on which no signal of the program is ever handled.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace holdfast::runtime {

/// Starts a thread with all signals blocked: they are for the threads of the program, which may
/// wait for them (sigwait) or have handlers that must not run beside our locks.
template <class Work>
[[nodiscard]] std::thread start_quietly(Work work) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread out{std::move(work)};
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return out;
    } catch (...) {
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
}

}  // namespace holdfast::runtime
