// The way to the cluster: one member at a time, another one when it fails.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/security/credentials.h>

#include "stores/compare/retry_pause.hpp"
#include "stores/etcd/call.hpp"
#include "stores/etcd/settings.hpp"

namespace holdfast::stores::etcd {

/// Connects when there is something to send, greets the member, and proves who the user is. What is sent
/// meanwhile waits; when every member was tried in vain it fails, and was then never given to the
/// network. A call that was, is never sent a second time, but for one that a member refused because of an
/// old token.
///
/// Thread-safety: none; its owner serialises.
class connection {
public:
    struct listeners {
        std::function<void()> on_ready;
        /// The connection is gone; a new one is sought as soon as something needs it.
        std::function<void(base::error const& why)> on_lost;
        std::function<void(base::error const& why)>
            on_unreachable;                                   ///< every member was tried in vain
        std::function<void(std::string version)> on_version;  ///< of a member that was greeted
    };

    connection(settings const& to, grpc::CompletionQueue& on, listeners who);

    void send(std::unique_ptr<call> what);
    template <class Request, class Response>
    void send(char const* method, Request request,
              typename unary_call<Request, Response>::answer then) {
        send(std::make_unique<unary_call<Request, Response>>(method, std::move(request),
                                                             std::move(then)));
    }

    /// Connects also when nothing is to be sent, and tries again until it has.
    void want(bool wanted);
    [[nodiscard]] bool is_ready() const noexcept { return state_ == state::ready; }
    [[nodiscard]] route const& current() const noexcept { return route_; }

    /// A stream on the connection of this number has ended.
    void on_stream_end(grpc::Status const& status, route const& by);
    /// The token is not taken any more: the next call comes after a fresh one.
    void renew_token();

    /// When the oldest call under way is given up, unless it ends before; never when there is none.
    [[nodiscard]] base::instant next_end() const;
    /// Gives up the calls that are due.
    void expire(base::instant now);

    /// Cancels all that is under way but farewells; nothing is begun from now on.
    void shut();
    /// Cancels those too.
    void cancel_all();
    /// Something that was begun has not ended yet.
    [[nodiscard]] bool busy() const noexcept { return timer_.set || !running_.empty(); }

private:
    enum class state { idle, greeting, ready, shut };

    /// The next try, when nothing else brings it about.
    struct retry_timer final : completion {
        explicit retry_timer(connection& of) : home{of} {}
        void complete(bool ok) override;
        connection& home;
        grpc::Alarm alarm;
        bool set{false};
    };

    void begin_round();
    void try_member();
    void on_greeted(fault const& trouble, wire::StatusResponse const& response);
    void authenticate();
    void become_ready();
    void try_next(base::error why);
    void fail_round(base::error const& why);
    void lose(base::error const& why);
    void start(std::unique_ptr<call> what);
    void on_end(std::uint64_t number, call& which, grpc::Status const& status);
    void fail_waiting(base::error const& why);

    settings const& to_;
    grpc::CompletionQueue& queue_;
    listeners listeners_;
    std::shared_ptr<grpc::ChannelCredentials> credentials_;
    state state_{state::idle};
    route route_;
    std::size_t member_{0};
    std::size_t tried_{0};  ///< members in this round
    bool wanted_{false};
    compare::retry_pause pause_{std::chrono::milliseconds{50}, std::chrono::milliseconds{2000}};
    retry_timer timer_{*this};
    std::deque<std::unique_ptr<call>> waiting_;
    std::map<std::uint64_t, std::unique_ptr<call>> running_;  ///< in the order of their starts
    std::uint64_t started_{0};
    std::uint64_t expired_{0};  ///< up to this one they were given up
};

}  // namespace holdfast::stores::etcd
