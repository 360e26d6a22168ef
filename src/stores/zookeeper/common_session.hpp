// The session of ZooKeeper's by which everything goes but signs of life.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stores/zookeeper/context.hpp"

namespace holdfast::stores::zookeeper {

/// Requests are carried out in their order, so that whatever was heard of can be read. When ZooKeeper ends it, another one follows.
///
/// Thread-safety: none; the driver serialises.
class common_session {
public:
    using reader = std::function<void(answer&)>;
    using change = std::function<void()>;

    /// `renew` brings back what belonged to the session that has ended: it is called when there is another one, and before it
    /// is told that something may have been missed.
    common_session(context& with, std::function<void()> renew)
        : with_{with}, renew_{std::move(renew)} {}

    void get(std::string path, reader then);
    void children(std::string path, reader then);
    void exists(std::string path, reader then);
    void sync(reader then = {});
    /// All of them or none.
    void together(std::vector<operation> what, reader then = {});

    /// The same as without a watch; and `changed` is called when the node is another one, once, unless it is forgotten before.
    void get_and_watch(std::string const& path, change changed, reader then);
    void exists_and_watch(std::string const& path, change changed, reader then);
    /// Whether it was still watched.
    bool forget(std::string const& path) { return watched_.erase(path) > 0; }

    /// Something may have been missed: told when the connection stands.
    void tell_gap();

    [[nodiscard]] bool is_connected() const noexcept { return handle_ && handle_->is_connected(); }

    /// What time brings, and what the poller has seen.
    void tend(base::instant now);
    void take(net::poller::event const& event);
    [[nodiscard]] base::instant due() const noexcept {
        return handle_ ? handle_->due() : base::never;
    }
    /// What is sent afterwards is not answered.
    void close();
    void abandon() noexcept;
    /// After `abandon`: leaves the library's memory as it is.
    void leave() noexcept { static_cast<void>(handle_.release()); }

private:
    void send(request what);
    [[nodiscard]] session_handle& current();
    void on_connected();
    void on_expired();
    void on_event(std::string const& path);
    void greet(std::size_t folder);
    void on_refused(answer const& from);
    void on_greeted();

    context& with_;
    std::function<void()> const renew_;
    std::unique_ptr<session_handle> handle_;
    bool closed_{false};
    bool lost_{false};      ///< the connection, since it was last there
    bool another_{false};   ///< or it will be: the session before has ended
    base::instant next_{};  ///< when another one may begin to connect
    compare::retry_pause pause_{std::chrono::milliseconds{5}, std::chrono::milliseconds{1000}};
    std::map<std::string, change> watched_;
};

}  // namespace holdfast::stores::zookeeper
