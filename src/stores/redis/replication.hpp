// Waits until replicas have what a client was told: `?replicas=N`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "seam/store.hpp"
#include "stores/redis/connection.hpp"

namespace holdfast::stores::redis {

/// WAIT holds up the connection that it is sent on, so it has one of its own. There it counts the
/// replicas that have a small write of ours; since a server replicates in order, they also have
/// everything that it answered before. One such write stands for all that came in meanwhile.
///
/// Thread-safety: none; its owner serialises.
class replication final : asker, connection::watcher {
public:
    /// What is kept back until then.
    struct news {
        std::vector<std::pair<seam::request_id, seam::reply>> replies;
        std::vector<seam::notice> notices;

        [[nodiscard]] bool empty() const noexcept { return replies.empty() && notices.empty(); }
    };

    /// `release` is called with what may be told now, `key` for where to write.
    replication(std::shared_ptr<settings const> to, std::string name,
                std::function<std::string()> key, std::function<void(news)> release,
                net::poller& events, net::poller::tag about, std::uint64_t seed);

    /// Whether a reply tells of something that must not be lost.
    [[nodiscard]] static bool concerns(seam::reply const& what);

    /// `answer_within`: as of the renewal that is answered.
    void keep(seam::request_id id, seam::reply what, base::instant now,
              std::chrono::milliseconds answer_within = {});
    void keep(seam::notice what, base::instant now);

    void tend(base::instant now) {
        now_ = now;
        line_.tend(now);
        line_.flush(now);
    }
    /// Another connection to the server turned out to be dead: this one is not relied on either.
    void leave_idle_line(base::error const& why, base::instant now) {
        if (!under_way_ && line_.is_ready()) line_.cut(why, now);
    }
    /// For good: nothing that waits is confirmed any more.
    void end(base::error const& why, base::instant now);
    [[nodiscard]] connection& line() noexcept { return line_; }
    [[nodiscard]] connection const& line() const noexcept { return line_; }

private:
    void on_answer(std::size_t which, answer const& what, seam::clock_id clock) override;
    void on_failure(std::size_t which, base::error const& why) override;
    void on_open() override {}
    void on_push(answer const& what) override;
    void on_break(base::error const& why) override;
    bool takes_over(question& what, std::string_view words) override;

    void ask();
    void leave_others(seam::clock_id clock);
    void finish(std::optional<base::error> why);

    std::shared_ptr<settings const> to_;
    std::function<std::string()> key_;
    std::function<void(news)> release_;
    base::instant now_{};
    news waiting_;  ///< for the next round
    news asked_;    ///< for the round that is under way
    bool under_way_{false};
    std::chrono::milliseconds answer_within_{0};  ///< the shortest of those that wait
    std::optional<base::error> refused_;          ///< the write of this round failed
    connection line_;
};

}  // namespace holdfast::stores::redis
