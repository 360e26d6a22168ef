// Crowds at one name on Redis: ours, our scripts without our client, and the least that can hand a lock on
// in order.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "crowd.hpp"
#include "redis_calls.hpp"

namespace bench {

/// Each thread acquires and releases by itself; those of one process share a client.
inline crowd::member holdfast_member(std::string const& url, holdfast::ordering order,
                                     int threads) {
    return [=](tally& all, int who) {
        holdfast::client client{url};
        holdfast::mutex mutex{client, "bench/crowd", {.order = order}};
        auto const live = [&](int self) {
            (void)client.ping();
            ++all.ready;
            while (!all.over) {
                mutex.lock();
                all.enter(self);
                all.leave();
                mutex.unlock();
            }
        };
        std::vector<std::jthread> others;
        for (int i = 1; i < threads; ++i)
            others.emplace_back(live, who * threads + i);
        live(who * threads);
    };
}

/// A list of who waits; a release hands the lock to the first and tells it so. No lease, no token, and
/// nobody survives the death of a waiter: it is there to be the limit.
namespace bare {

inline constexpr holdfast::stores::redis::script lock{
    "lock", "",
    "if redis.call('SET', KEYS[1], ARGV[1], 'NX') then return 1 end "
    "redis.call('RPUSH', KEYS[2], ARGV[1]) return 0"};
inline constexpr holdfast::stores::redis::script unlock{
    "unlock", "",
    "local next = redis.call('LPOP', KEYS[2]) "
    "if next then redis.call('SET', KEYS[1], next) redis.call('PUBLISH', 'bare:' .. next, '1') "
    "else redis.call('DEL', KEYS[1]) end return 1"};

/// The call of a script, by the hash that the server gives it.
inline std::string call(wire& to, holdfast::stores::redis::script const& what, int who) {
    auto const sha = to.load(what);
    holdfast::stores::redis::script const known{what.name, sha, what.text};
    holdfast::stores::redis::command out{known, 2};
    out << "bare:holder"
        << "bare:line" << std::to_string(who);
    return std::string{out.bytes()};
}

inline crowd::member member(std::string const& url) {
    return [=](tally& all, int who) {
        wire commands{url};
        wire messages{url};
        auto const acquire = call(commands, lock, who);
        auto const release = call(commands, unlock, who);
        holdfast::stores::redis::command subscribe{"SUBSCRIBE"};
        subscribe << "bare:" + std::to_string(who);
        (void)messages.ask(std::move(subscribe));
        ++all.ready;
        while (!all.over) {
            commands.send(acquire);
            if (commands.answer() == ":0\r\n") (void)messages.answer();
            all.enter(who);
            all.leave();
            commands.send(release);
            (void)commands.answer();
        }
    };
}

}  // namespace bare

/// The scripts of the store, sent by somebody who does nothing but send them: what is between this and
/// a crowd of ours is the client's own part.
inline crowd::member scripted_member(std::string const& url) {
    return [=](tally& all, int who) {
        wire commands{url};
        wire messages{url};
        caller self{0x1234'5678'0000'0000 + static_cast<std::uint64_t>(who)};
        caller::load(commands);
        auto const calls = self.calls("bench/scripted", holdfast::ordering::fair);
        holdfast::stores::redis::command subscribe{"SUBSCRIBE"};
        subscribe << self.channel();
        (void)messages.ask(std::move(subscribe));
        ++all.ready;
        auto const has = [](std::string_view text, std::string_view word) {
            return text.find(word) != std::string_view::npos;
        };
        auto const get = [&] {
            if (!has(commands.answer(), "queued")) return;
            while (!has(messages.answer(), "granted")) {}
        };
        commands.send(calls.lock);
        get();
        while (!all.over) {
            all.enter(who);
            all.leave();
            commands.send(calls.unlock);
            commands.send(calls.lock);
            (void)commands.answer();
            get();
        }
        commands.send(calls.unlock);
        (void)commands.answer();
    };
}

}  // namespace bench
