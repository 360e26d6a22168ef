// A sentinel of the test's own.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/raw_server.hpp"
#include "unit/redis_command_reader.hpp"

namespace holdfast::stores::redis {

/// Thread-safety: every member may be called from any thread at once.
class redis_sentinel_peer {
public:
    [[nodiscard]] std::uint16_t port() const noexcept { return server_.port(); }

    /// From now on it says that the master is at this port, by a configuration of this epoch; and names the others.
    void tell(std::uint64_t epoch, std::uint16_t master, std::vector<std::uint16_t> others) {
        std::lock_guard const held{mutex_};
        epoch_ = epoch;
        master_ = master;
        others_ = std::move(others);
        is_there_ = true;
    }
    /// From now on whoever asks is hung up on.
    void be_gone() {
        std::lock_guard const held{mutex_};
        is_there_ = false;
    }

    /// To all who listen.
    void publish(std::string const& message) {
        std::lock_guard const held{mutex_};
        for (auto const* const each : listeners_)
            each->send("*3\r\n" + text("message") + text("+switch-master") + text(message));
    }
    [[nodiscard]] int asked() const {
        std::lock_guard const held{mutex_};
        return asked_;
    }

private:
    static std::string text(std::string const& what) {
        return "$" + std::to_string(what.size()) + "\r\n" + what + "\r\n";
    }

    void serve(support::raw_socket const& from) {
        command_reader in;
        bool goes_on = true;
        while (goes_on) {
            auto const bytes = from.receive();
            if (bytes.empty()) break;
            in.feed(bytes);
            for (auto const& each : in.take())
                goes_on = goes_on && answer(each, from);
        }
        std::lock_guard const held{mutex_};
        listeners_.erase(&from);
    }

    bool answer(std::string const& what, support::raw_socket const& from) {
        std::lock_guard const held{mutex_};
        if (!is_there_) return false;
        if (what == "SUBSCRIBE") {
            listeners_.insert(&from);
            return from.send("*3\r\n" + text("subscribe") + text("+switch-master") + ":1\r\n");
        }
        if (what == "PING") return from.send("*2\r\n" + text("pong") + text(""));
        if (what == "SENTINEL GET-MASTER-ADDR-BY-NAME") {
            ++asked_;
            return from.send("*2\r\n" + text("127.0.0.1") + text(std::to_string(master_)));
        }
        if (what == "SENTINEL MASTER")
            return from.send("*2\r\n" + text("config-epoch") + text(std::to_string(epoch_)));
        if (what == "SENTINEL SENTINELS") return from.send(named());
        return from.send("+OK\r\n");
    }

    [[nodiscard]] std::string named() const {
        auto out = "*" + std::to_string(others_.size()) + "\r\n";
        for (auto const port : others_)
            out += "*4\r\n" + text("ip") + text("127.0.0.1") + text("port") +
                   text(std::to_string(port));
        return out;
    }

    mutable std::mutex mutex_;  ///< guards what follows
    std::uint64_t epoch_{0};
    std::uint16_t master_{1};
    std::vector<std::uint16_t> others_;
    bool is_there_{true};
    int asked_{0};
    std::set<support::raw_socket const*> listeners_;

    support::raw_server server_{[this](support::raw_socket const& from) { serve(from); }};
};

}  // namespace holdfast::stores::redis
