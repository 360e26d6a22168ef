// A private server of any kind that can be a member of a quorum.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::quorum_faults {

/// What befalls a member. Not thread-safe.
class member_server {
public:
    virtual ~member_server() = default;

    [[nodiscard]] virtual std::uint16_t port() const = 0;
    /// Of this one alone.
    [[nodiscard]] virtual std::string url() const = 0;

    /// A user that may do everything, and is so again when it was emptied.
    void let_in(std::string user);

    void stop();
    void resume();
    /// With SIGKILL; `start` makes a new one, over the same data where it is kept.
    void kill();
    void start();
    /// Of one that was killed: it starts as a new one would.
    void start_empty();

    [[nodiscard]] bool is_alive() const noexcept { return alive_; }
    [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }

private:
    virtual void do_stop() = 0;
    virtual void do_resume() = 0;
    virtual void do_kill() = 0;
    virtual void do_start() = 0;
    virtual void do_lose_data() = 0;
    virtual void do_let_in(std::string const& user) = 0;

    bool alive_{true};
    bool stopped_{false};
    std::vector<std::string> users_;
};

/// A kind of members, as a parameter of tests.
struct member_kind {
    std::string name;
    std::string scheme;    ///< how a URL of several begins
    std::string login;     ///< with an @ behind it, where one is needed
    std::string account;   ///< what stands before the name of one of our users
    std::string database;  ///< how it ends
    std::function<std::unique_ptr<member_server>()> make;
};

std::ostream& operator<<(std::ostream& out, member_kind const& kind);

/// All that this program has.
[[nodiscard]] std::vector<member_kind>& member_kinds();

/// Each kind has one of static storage duration.
struct registration {
    explicit registration(member_kind kind) { member_kinds().push_back(std::move(kind)); }
};

/// Over a class of tests/support; `lose_data` is for one that keeps what it has. `users` are the words by which one is
/// made, with ? for the name; empty where anybody is let in.
template <class Server>
class member_of : public member_server {
public:
    template <class... Arguments>
    explicit member_of(std::string users, Arguments&&... arguments)
        : server_{std::forward<Arguments>(arguments)...}, make_user_{std::move(users)} {}

    [[nodiscard]] std::uint16_t port() const override { return server_.port(); }
    [[nodiscard]] std::string url() const override { return server_.url(); }

private:
    void do_stop() override { server_.stop(); }
    void do_resume() override { server_.resume(); }
    void do_kill() override { server_.kill(); }
    void do_start() override { server_.start(); }
    void do_lose_data() override {
        if constexpr (requires { server_.lose_data(); }) server_.lose_data();
    }

    void do_let_in(std::string const& user) override {
        if constexpr (requires { server_.ask(make_user_); }) {
            auto words = make_user_;
            for (auto at = words.find('?'); at != std::string::npos; at = words.find('?'))
                words.replace(at, 1, user);
            server_.ask(words);
        }
    }

    Server server_;
    std::string make_user_;
};

}  // namespace holdfast::quorum_faults
