// A bad network between a client and a server, from a seed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::redis_faults {

/// How often something goes wrong with what one read brings: one in so many, 0 for never.
struct odds {
    int lose_request{0};  ///< the request does not arrive, and the connection breaks
    int lose_reply{0};    ///< the request took effect, its reply is gone, the connection breaks
    int cut_reply{0};     ///< a part of the reply arrives, then the connection breaks
    int silence{0};       ///< nothing passes any more, and nobody says so
    int garble{0};        ///< something else than the reply arrives
    int delay{0};         ///< the reply comes later
    std::chrono::milliseconds longest_delay{50};
    bool repeat{
        false};  ///< what was under way at a break arrives once more, with the next connection
};

/// Called with what passes, on the proxy's thread: the connection's number, and what was read.
struct onlooker {
    std::function<void(int, std::string_view)> on_request{};
    std::function<void(int, std::string_view)> on_reply{};
};

/// Listens on a port of 127.0.0.1 and passes on what comes, as badly as it is told. What happens to
/// a connection depends on the seed, on its number and on what passes. Ends when the object ends.
/// Thread-safety: every member may be called from any thread at once.
class proxy {
public:
    proxy(std::uint16_t target, std::uint64_t seed, odds chances = {}, onlooker who = {});
    ~proxy();
    proxy(proxy const&) = delete;
    proxy& operator=(proxy const&) = delete;

    [[nodiscard]] std::string url() const {
        return "redis://127.0.0.1:" + std::to_string(port_) + "?timeout=400ms";
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    /// What passes by the connections of this moment vanishes from now on, in both directions, and
    /// neither side is told. New ones work.
    void swallow() noexcept { swallowed_ = connections_.load(); }
    /// The same for one connection, by its number: 0 for the first that was made.
    void swallow(int number) noexcept { swallowed_one_ = number; }

    /// The same for connections of whoever says this word when he logs in, for those that are yet to come, too; of
    /// everybody with an empty one. Until `let_all_in`.
    void shut_out(std::string word);
    /// Connections of which something has vanished are broken.
    void let_all_in();

    /// From now on everything passes. Connections that fell silent are broken.
    void be_good() noexcept { good_ = true; }

    /// Another server stands behind the address from now on. The connections to the one before break.
    void lead_to(std::uint16_t target) noexcept {
        target_ = target;
        left_ = connections_.load();
    }
    /// The same, but the connections to the one before go on.
    void lead_new_ones_to(std::uint16_t target) noexcept { target_ = target; }

    /// From now on these are the chances, until it is good again.
    void be_bad(odds chances);
    /// Nothing passes for a while, and what comes meanwhile arrives late.
    void stall(bool so) noexcept { stalled_ = so; }
    /// The same for those connections alone whose first request has this text in it, also ones that are made later.
    void hold_back(std::string mark);
    void let_go() { hold_back({}); }

    [[nodiscard]] int connections() const noexcept { return connections_; }
    [[nodiscard]] int faults() const noexcept { return faults_; }
    [[nodiscard]] int repeats() const noexcept { return repeats_; }
    /// How often a client has asked, on whichever connection, and was then answered: what it asks meanwhile counts
    /// with it.
    [[nodiscard]] std::uint64_t round_trips() const noexcept { return round_trips_; }

private:
    using clock = std::chrono::steady_clock;
    struct pair {
        int client{-1};
        int server{-1};
        int number{0};
        std::mt19937_64 random;
        std::string first_words{};
        std::string request{};  ///< the last one that was passed on
        std::string early{};    ///< requests that are held back
        std::string late{};     ///< a reply that is not yet due
        clock::time_point due{};
        bool asks{false};      ///< and has had no answer yet
        bool shut_out{false};  ///< something of it has vanished
        bool silent{false};
        bool over{false};
    };

    void serve();
    void accept();
    void repeat();
    void take_wishes();
    void end(pair& it);
    void on_request(pair& it);
    void on_reply(pair& it);
    void on_time(pair& it);
    [[nodiscard]] bool is_swallowed(pair const& it) const noexcept {
        return it.number < swallowed_ || it.number == swallowed_one_;
    }
    [[nodiscard]] bool is_shut_out(pair& it) const;
    [[nodiscard]] bool is_held_back(pair const& it) const noexcept {
        return !mark_.empty() && it.first_words.find(mark_) != std::string::npos;
    }
    [[nodiscard]] bool happens(pair& it, int odds);
    [[nodiscard]] int dial() const;

    std::atomic<std::uint16_t> target_;
    std::atomic<int> left_{0};  ///< how many connections, from the first on, are to break
    std::uint64_t seed_;
    onlooker const who_;
    odds odds_;  ///< of the thread
    int socket_{-1};
    std::uint16_t port_{0};
    std::list<pair> pairs_;  ///< of the thread
    std::string under_way_;  ///< when a connection broke; of the thread
    std::atomic<bool> good_{false};
    std::atomic<bool> stop_{false};
    std::atomic<int> connections_{0};
    std::atomic<int> swallowed_{0};  ///< how many connections, from the first on
    std::atomic<int> swallowed_one_{-1};
    std::atomic<int> faults_{0};
    std::atomic<int> repeats_{0};
    std::atomic<std::uint64_t> round_trips_{0};
    std::atomic<bool> stalled_{false};
    std::mutex mutex_;
    odds wanted_;                              ///< under the mutex
    std::vector<std::string> wanted_outside_;  ///< under the mutex
    std::vector<std::string> outside_;         ///< words of those who are shut out; of the thread
    std::string wanted_mark_;                  ///< under the mutex
    std::string mark_;                         ///< of the thread
    std::thread thread_;
};

}  // namespace holdfast::redis_faults
