// Finds the servers of a store, and finds out when they change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "net/poller.hpp"
#include "stores/redis/connection.hpp"
#include "stores/redis/older_answers.hpp"
#include "stores/redis/subscription.hpp"
#include "stores/redis/topology.hpp"

namespace holdfast::stores::redis {

/// Asks one of the guides, which are sentinels or nodes of a cluster, and the next one when that one fails or its answer
/// does not help. Asks again when it is told to, every few moments while there is trouble, and slowly otherwise; sentinels
/// tell of a switch by themselves besides. The guides are those of the URL and whomever they name.
///
/// Thread-safety: none; its owner serialises.
class discovery final : asker, connection::watcher, subscription::listener {
public:
    class listener {
    public:
        virtual void on_topology(topology const& found) = 0;
        /// None of the guides can tell, for now.
        virtual void on_no_topology(base::error const& why) = 0;

    protected:
        ~listener() = default;
    };

    /// By which the poller tells its connections apart.
    struct tags {
        net::poller::tag questions{};
        net::poller::tag news{};
    };

    discovery(std::shared_ptr<settings const> of, std::string const& name, listener& to,
              net::poller& events, tags about);

    /// Something has changed, or does not work: asks at once, unless it did just now.
    void hurry(base::instant now) noexcept;

    /// What time brings. `troubled`: somebody waits for a server in vain.
    void tend(base::instant now, bool troubled);
    [[nodiscard]] base::instant next_due(bool troubled) const noexcept;
    void take(net::poller::tag ready, base::instant now);
    [[nodiscard]] bool has_more() const noexcept;

    void cut(base::error const& why, base::instant now);
    void abandon() noexcept;

private:
    // asker
    void on_answer(std::size_t which, answer const& what, seam::clock_id clock) override;
    void on_failure(std::size_t which, base::error const& why) override;
    void on_cut(std::size_t which, base::error const& why) override;
    // connection::watcher
    void on_open() override {}
    void on_push(answer const& what) override;
    void on_break(base::error const&) override {}
    // subscription::listener
    void on_message(std::string_view message) override;
    void on_subscribed() override { hurry(now_); }
    void on_unsubscribed(base::error const&) override { news_elsewhere_at_ = now_; }

    void ask(bool troubled);
    void take_part(std::size_t which, answer const& what);
    void count_answer();
    void conclude();
    void follow(topology found);
    void doubt(topology found);
    void fail(base::error why);
    void turn_to_next();
    void follow_news();
    [[nodiscard]] base::instant ask_at(bool troubled) const noexcept;
    [[nodiscard]] std::shared_ptr<settings const> guide() const;
    [[nodiscard]] std::vector<server_address> with_seeds(std::vector<server_address> found) const;
    void turn_to(std::vector<server_address> guides);

    std::shared_ptr<settings const> of_;
    listener& listener_;
    tags about_;
    base::random random_;
    base::instant now_{};

    std::vector<server_address> guides_;
    std::size_t current_{0};  ///< among the guides
    bool failing_{false};     ///< it did not help at all
    bool unchanged_{false};   ///< it told nothing new
    bool hurried_{true};
    base::instant asked_at_{};
    std::size_t unanswered_{0};
    std::optional<base::error> failed_;  ///< one of the questions under way
    std::size_t failures_{0};            ///< in a row, each of another guide
    topology found_;                     ///< by the questions under way
    std::vector<master> known_;          ///< by the last ones
    std::uint64_t epoch_{0};
    std::vector<server_address> followed_;  ///< the guides, with the last answer that was followed
    std::size_t sentinels_{0};              ///< how many it told of
    older_answers older_;

    connection line_;
    std::optional<subscription> news_;
    base::instant news_elsewhere_at_{base::never};  ///< unless there are some by then
};

}  // namespace holdfast::stores::redis
