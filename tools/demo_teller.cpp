// A process of `make demo`: adds to an account file again and again, with or without a lock.
//
//     demo_teller ACCOUNT DEPOSITS AMOUNT WORK-MS [STORE-URL LEASE-MS [PAUSE-AT]]
//
// Says what it does, one line per event: boot-time in µs, word, token, detail. At deposit PAUSE-AT it
// says `paused` while it holds the lock, between its read and its write, and waits for a line.
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <holdfast/holdfast.hpp>

namespace {

using std::chrono::milliseconds;

// One record of a fixed size: the balance, and the highest token that ever wrote it. Reading and
// writing are one step each; what happens between them is the teller's affair.
class account {
public:
    explicit account(char const* path) : file_{::open(path, O_RDWR | O_CLOEXEC)} {
        if (file_ < 0) throw std::system_error{errno, std::system_category(), path};
    }

    [[nodiscard]] long long read() const {
        latch const held{file_};
        return load().balance;
    }

    /// False when somebody with a higher token has written before: this write comes too late.
    [[nodiscard]] bool write(long long balance, std::uint64_t token) const {
        latch const held{file_};
        if (token < load().highest) return false;
        char text[size + 1];
        std::snprintf(text, sizeof text, "%20lld %20llu\n", balance,
                      static_cast<unsigned long long>(token));
        return ::pwrite(file_, text, size, 0) == size;
    }

private:
    static constexpr int size = 42;
    struct record {
        long long balance;
        unsigned long long highest;
    };
    struct latch {  // the account's own atomicity, as a database has it
        explicit latch(int file) : file_{file} { ::flock(file_, LOCK_EX); }
        ~latch() { ::flock(file_, LOCK_UN); }
        int file_;
    };

    [[nodiscard]] record load() const {
        char text[size + 1] = {};
        record out{};
        if (::pread(file_, text, size, 0) != size ||
            std::sscanf(text, "%lld %llu", &out.balance, &out.highest) != 2)
            throw std::runtime_error{"the account file is damaged"};
        return out;
    }

    int file_;
};

void say(std::string_view word, std::uint64_t token, std::string_view detail = "") {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    std::cout << now.tv_sec * 1'000'000 + now.tv_nsec / 1'000 << ' ' << word << ' ' << token << ' '
              << detail << std::endl;
}

struct job {
    account where;
    long long amount;
    milliseconds work;
    int pause_at;
};

// Reads, works for a while, writes: the window in which an update can be lost.
bool deposit(job const& it, int number, std::uint64_t token) {
    auto const before = it.where.read();
    say("holds", token, std::to_string(before));
    if (number == it.pause_at) {
        say("paused", token);
        std::string line;
        std::getline(std::cin, line);
    } else {
        std::this_thread::sleep_for(it.work);
    }
    auto const after = before + it.amount;
    bool const taken = it.where.write(after, token);
    say(taken ? "wrote" : "refused", token, std::to_string(after));
    return taken;
}

void deposit_locked(job it, int deposits, holdfast::mutex& lock) {
    for (int number = 1; number <= deposits;) {
        auto lease = lock.acquire();
        bool const taken = deposit(it, number, lease.token());
        if (taken) {
            ++number;
        } else {
            say(to_string(lease.state()), lease.token(), lease.loss_reason());
            it.pause_at = 0;
        }
        auto const outcome = lease.release();
        if (outcome != holdfast::release_outcome::released)
            say("release", lease.token(), to_string(outcome));
    }
}

int number(char const* text) {
    int out = 0;
    std::string_view const all{text};
    auto const [end, fault] = std::from_chars(all.data(), all.data() + all.size(), out);
    if (fault != std::errc{} || end != all.data() + all.size())
        throw std::invalid_argument{"not a number: " + std::string{all}};
    return out;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 5 || argc == 6 || argc > 8) {
        std::cerr << "usage: demo_teller ACCOUNT DEPOSITS AMOUNT WORK-MS [STORE-URL LEASE-MS "
                     "[PAUSE-AT]]\n";
        return 64;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no teller outlives the demo, not even a stopped one
    job const it{account{argv[1]}, number(argv[3]), milliseconds{number(argv[4])},
                 argc > 7 ? number(argv[7]) : 0};
    int const deposits = number(argv[2]);
    std::optional<holdfast::client> client;
    if (argc > 6) {
        client.emplace(argv[5]);
        client->ping();
    }
    say("ready", 0);
    std::string line;
    std::getline(std::cin, line);  // all begin together
    if (client) {
        holdfast::mutex lock{*client, "account", {.lease = milliseconds{number(argv[6])}}};
        deposit_locked(it, deposits, lock);
    } else {
        for (int done = 1; done <= deposits; ++done)
            (void)deposit(it, done, 0);
    }
    say("done", 0);
    return 0;
} catch (std::exception const& error) {
    std::cerr << "demo_teller: " << error.what() << '\n';
    return 1;
}
