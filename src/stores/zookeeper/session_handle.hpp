// One session of ZooKeeper's own, with its connection: the library's handle, driven by us.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <zookeeper/zookeeper.h>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "net/poller.hpp"
#include "stores/compare/retry_pause.hpp"
#include "stores/zookeeper/closing_connections.hpp"
#include "stores/zookeeper/server_lookup.hpp"
#include "stores/zookeeper/settings.hpp"

namespace holdfast::stores::zookeeper {

/// One of those that are carried out together, or not at all.
struct operation {
    enum class kind { check, create, remove, set };
    kind what{kind::check};
    std::string path;
    std::string data{};
    int version{-1};  ///< -1: any
    int mode{0};      ///< of a node to be made
};

struct answer {
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    int code{ZOK};
    bool sent{true};       ///< it was given to the network
    base::instant when{};  ///< it was
    std::string data{};    ///< of a node
    Stat stat{};  ///< of a node; of several operations, what the last `set` made of its node
    std::vector<std::string>
        names{};                  ///< children; of several operations, the nodes that were made
    std::size_t failed{nowhere};  ///< the operation that failed
};

struct request {
    enum class kind { get, children, exists, sync, together };
    kind what{kind::get};
    std::string path{};
    bool watch{false};
    std::vector<operation> operations{};
    std::function<void(answer&)> then{};
    base::instant by{};  ///< to be given to the network; filled in
};

/// What never left it is answered as not sent. What was not answered in time breaks the connection, and the library
/// tries the next server.
///
/// Thread-safety: none; its owner serialises. Listeners and answers are called from inside `send`, `process` and
/// `tend`; none of them may destroy it.
class session_handle {
public:
    struct listener {
        std::function<void()> on_connected;  ///< with a session that is new, or the one before
        std::function<void()> on_lost;
        std::function<void()> on_expired;                  ///< for ever
        std::function<void(std::string const&)> on_event;  ///< a watched path is another one now
    };

    /// What a session handle needs of its driver; lives longer.
    struct surroundings {
        settings const& to;
        net::poller& events;
        closing_connections& closing;
    };

    /// `from`: when it may connect first.
    session_handle(surroundings in, net::poller::tag about, std::chrono::milliseconds session,
                   listener who, base::instant from = {});
    /// Ends the session if the network takes the request at once, and waits for nobody; else it ends by itself. What is under
    /// way is answered as lost.
    ~session_handle();
    session_handle(session_handle const&) = delete;
    session_handle& operator=(session_handle const&) = delete;

    /// Waits until it is connected and let go on.
    void send(request what);
    /// The same before others.
    void send_first(request what) { give(std::move(what)); }
    /// From now on requests pass; also after another connection of the same session.
    void let_pass();
    /// As if it had expired, without a word. What is under way is answered as lost, what waits with this code.
    void give_up(int code);

    [[nodiscard]] bool is_connected() const noexcept { return connected_; }
    [[nodiscard]] bool is_expired() const noexcept { return expired_; }
    [[nodiscard]] std::chrono::milliseconds session_timeout() const;
    [[nodiscard]] std::int64_t session() const { return zoo_client_id(handle_)->client_id; }
    /// When the connection that is now, or the next one, was begun.
    [[nodiscard]] base::instant begun() const noexcept { return begun_; }
    [[nodiscard]] net::poller::tag tag() const noexcept { return about_; }

    void process(std::uint32_t kinds);
    /// What time brings; also to be called after `send`.
    void tend(base::instant now);
    [[nodiscard]] base::instant due() const noexcept;

    /// In the child of a fork.
    void abandon() noexcept;

private:
    struct call;

    static void on_watch(zhandle_t* of, int type, int state, char const* path, void* context);
    static void on_void(int code, void const* data);
    static void on_string(int code, char const* value, void const* data);
    static void on_stat(int code, Stat const* stat, void const* data);
    static void on_data(int code, char const* value, int size, Stat const* stat, void const* data);
    static void on_children(int code, String_vector const* names, Stat const* stat,
                            void const* data);
    static void finish(call* which, int code);

    void give(request what);
    void lose_all();
    [[nodiscard]] int give_together(call& which, std::vector<operation> const& operations);
    void on_state(int state);
    void cut() noexcept;
    [[nodiscard]] bool find_servers(base::instant now);
    void connect_first(base::instant now);
    void connect_next(base::instant now);
    [[nodiscard]] bool is_stuck(base::instant now) const noexcept;
    void read_what_waits();
    /// False: there are no descriptors left.
    bool follow(int descriptor, int interest);
    void close_handle() noexcept;

    settings const& settings_;
    net::poller& poller_;
    closing_connections& left_;  ///< connections by which sessions were ended
    net::poller::tag const about_;
    std::chrono::milliseconds const session_;  ///< the time-out to ask for
    listener const tell_;
    std::unique_ptr<server_lookup> lookup_;  ///< under way
    std::string addresses_;                  ///< that the library has
    zhandle_t* handle_{nullptr};             ///< nullptr: no address is known
    base::descriptor copy_;  ///< of the library's socket, which it closes whenever it likes
    net::poller::registration registered_;
    int library_descriptor_{-1};
    bool connected_{false};
    bool passing_{false};
    bool expired_{false};
    bool closing_{false};
    std::set<call*> under_way_;
    base::instant progress_{};  ///< the last answer, or when it began to wait for one
    bool reminded_{false};      ///< of what is under way, since then
    base::instant begun_{};
    base::instant library_due_{};
    /// Before the servers are tried again.
    compare::retry_pause pause_{std::chrono::milliseconds{5}, std::chrono::milliseconds{1000}};
    std::deque<request> waiting_;
};

}  // namespace holdfast::stores::zookeeper
