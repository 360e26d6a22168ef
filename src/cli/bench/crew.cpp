#include "bench/crew.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <new>
#include <span>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "bench/worker.hpp"

namespace holdfast::cli {

namespace {

// One slot per process, in memory that all of them see.
class board {
public:
    explicit board(std::size_t count) : count_{count} {
        memory_ =
            ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory_ == MAP_FAILED)
            throw std::system_error{errno, std::generic_category(), "cannot share memory"};
        for (std::size_t i = 0; i < count; ++i)
            new (slots() + i) worker_report;
    }
    ~board() { ::munmap(memory_, bytes()); }
    board(board const&) = delete;
    board& operator=(board const&) = delete;

    [[nodiscard]] std::span<worker_report> reports() const noexcept { return {slots(), count_}; }

private:
    [[nodiscard]] std::size_t bytes() const noexcept { return count_ * sizeof(worker_report); }
    [[nodiscard]] worker_report* slots() const noexcept {
        return static_cast<worker_report*>(memory_);
    }

    std::size_t count_;
    void* memory_;
};

struct pipe_ends {
    base::descriptor read;
    base::descriptor write;
};

pipe_ends make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw std::system_error{errno, std::generic_category(), "cannot make a pipe"};
    return {base::descriptor{ends[0]}, base::descriptor{ends[1]}};
}

pid_t start_worker(bench_plan const& plan, worker_report& report, unsigned index,
                   std::string const& prefix, pipe_ends& ready, pipe_ends& go) {
    pid_t const pid = ::fork();
    if (pid < 0) throw std::system_error{errno, std::generic_category(), "cannot start a process"};
    if (pid > 0) return pid;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    go.write.reset();
    run_worker({plan, report, index, prefix, std::move(ready.write), std::move(go.read)});
    ::_exit(0);
}

}  // namespace

bench_result crew::run() const {
    board const board{plan_.processes};
    auto ready = make_pipe();
    auto go = make_pipe();
    // Names of this run alone: a benchmark must not take what others work with.
    auto const prefix = fmt::format("holdfast-bench/{}-{}/", ::getpid(),
                                    base::boot_clock::now().time_since_epoch().count());
    std::vector<pid_t> workers;
    for (unsigned i = 0; i < plan_.processes; ++i)
        workers.push_back(start_worker(plan_, board.reports()[i], i, prefix, ready, go));
    ready.write.reset();
    // Each says one byte when it is ready; a worker that failed closes its end instead.
    for (unsigned i = 0; i < plan_.processes; ++i) {
        char byte = 0;
        if (::read(ready.read.get(), &byte, 1) != 1) break;
    }
    go.read.reset();
    go.write.reset();
    for (pid_t const pid : workers)
        ::waitpid(pid, nullptr, 0);

    bench_result out;
    for (auto const& report : board.reports()) {
        report.check();
        out.latency.merge(report.latency);
        out.seconds = std::max(out.seconds, report.seconds);
    }
    out.pairs = out.latency.count();
    return out;
}

}  // namespace holdfast::cli
