// The servers of a store: one, or those that are found, each with its lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "net/poller.hpp"
#include "stores/redis/discovery.hpp"
#include "stores/redis/node.hpp"
#include "stores/redis/postponed_requests.hpp"
#include "stores/redis/slots.hpp"

namespace holdfast::stores::redis {

/// Sends each command to the server that it is for, and follows slots and roles that move. A server that takes over from
/// another has its lane; so a store of one master has one lane for ever.
///
/// Thread-safety: none; its owner serialises. The slot map may be read by anybody.
class servers final : node::owner, discovery::listener {
public:
    class owner {
    public:
        /// It is known where the servers are, or they are others than before. `remark`: for the log, if any.
        virtual void on_known(std::string const& remark) = 0;
        virtual void on_unknown(base::error const& why) = 0;
        /// Behind a lane another server answers than before.
        virtual void on_another() = 0;
        virtual void on_break(node& to, base::error const& why) = 0;
        virtual void on_confirmed(replication::news what) = 0;

    protected:
        ~owner() = default;
    };

    /// Tags up to this one are not used here.
    static constexpr net::poller::tag own_tag = 0;

    /// `slots`: filled as servers are found; nullptr where there is nobody to find.
    servers(std::shared_ptr<settings const> of, std::string name, owner& to, net::poller& events,
            std::shared_ptr<slot_map> slots);

    /// The server that is meant; nullptr while nobody is known to serve it.
    [[nodiscard]] node* find(route const& what) const noexcept;
    [[nodiscard]] node* find(seam::clock_id clock) const noexcept;
    void send(question what, base::instant now);
    /// Whether the log says of any that it cannot be reached.
    [[nodiscard]] bool are_down() const noexcept;

    /// For a connection that may lead to any of them: one other than `but`, where there are several.
    [[nodiscard]] std::shared_ptr<settings const> any(settings const& but);
    [[nodiscard]] bool has(settings const& target) const noexcept;

    void take(net::poller::tag ready, base::instant now);
    void take_rest(base::instant now);
    [[nodiscard]] bool has_more() const noexcept;
    void tend(base::instant now);
    [[nodiscard]] base::instant next_due() const noexcept;
    /// As that of a connection.
    void flush(base::instant now, bool may_gather);

    void cut(base::error const& why, base::instant now);
    void abandon() noexcept;

private:
    struct place {
        std::unique_ptr<node> server;  ///< nullptr: nobody at present
        seam::clock_id clock{};        ///< of the last one that was reached
        bool taken_over{false};        ///< and not reached since
        bool serves{false};            ///< some slots
    };

    // node::owner
    void on_reached(node& to) override;
    void on_break(node& to, base::error const& why) override;
    bool takes_over(node& at, question& what, std::string_view words) override;
    void on_confirmed(replication::news what) override { owner_.on_confirmed(std::move(what)); }
    // discovery::listener
    void on_topology(topology const& found) override;
    void on_no_topology(base::error const& why) override;

    node& at(server_address const& where);
    void occupy(std::size_t lane, server_address const& where);
    [[nodiscard]] std::size_t lane_for(master const& fresh, std::vector<bool> const& used) const;
    [[nodiscard]] std::size_t place_of(server_address const& where) const noexcept;
    void leave(place& old);
    void redirect(question what, redirection const& where);
    void postpone(question what, std::string words);
    void send_postponed();
    [[nodiscard]] base::instant troubled_from() const noexcept;
    [[nodiscard]] std::string replicated_key(seam::lane_id lane);

    std::shared_ptr<settings const> of_;
    std::string name_;
    owner& owner_;
    net::poller& events_;
    std::shared_ptr<slot_map> slots_;
    base::random random_;
    base::instant now_{};
    bool known_{false};
    std::vector<place> places_;  ///< by their lanes
    postponed_requests postponed_;
    std::uint64_t last_turn_{0};
    std::optional<discovery> discovery_;
};

}  // namespace holdfast::stores::redis
