// A request of the seam whose commands are under way.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <boost/intrusive/list.hpp>

#include "stores/redis/connection.hpp"
#include "stores/redis/exchange.hpp"

namespace holdfast::stores::redis {

/// Sends what an exchange wants sent and gives it the answers.
///
/// Thread-safety: none; its owner serialises.
class pending_request final : public asker, public boost::intrusive::list_base_hook<> {
public:
    class owner {
    public:
        /// A command was answered; `carried_out` when that was no failure. May end the request.
        virtual void on_answered(pending_request& request, bool carried_out) = 0;

    protected:
        ~owner() = default;
    };

    pending_request(owner& of, std::unique_ptr<exchange> work, std::optional<seam::request_id> id)
        : owner_{of}, work_{std::move(work)}, id_{id} {}

    void send_over(connection& line, base::instant now) {
        for (auto& one : std::exchange(work_->outbox, {})) {
            ++unanswered_;
            line.send(std::move(one), *this, sent_++, now, answer_within);
        }
        line_ = &line;
    }
    [[nodiscard]] bool is_answered() const noexcept { return unanswered_ == 0; }

    /// When all is answered.
    [[nodiscard]] seam::reply close() {
        auto out = work_->close();
        out.clock = clock_;
        return out;
    }

    /// Nothing when nobody waits for the reply.
    [[nodiscard]] std::optional<seam::request_id> id() const noexcept { return id_; }

    bool deaf{false};  ///< relies on messages, and was sent before any could arrive
    std::chrono::milliseconds answer_within{0};  ///< of a renewal

private:
    void on_answer(std::size_t which, answer const& what) override {
        // Times of two servers cannot stand in one reply.
        auto const clock = line_->clock();
        if (clock_ == seam::clock_id{}) clock_ = clock;
        if (clock != clock_)
            return on_failure(which,
                              {errc::store_unavailable, "another server has come to answer"});
        work_->on_answer(which, what);
        count_answer(true);
    }
    void on_failure(std::size_t which, base::error const& why) override {
        work_->on_failure(which, why);
        count_answer(false);
    }
    void on_cut(std::size_t which, base::error const& why) override {
        work_->on_cut(which, why);
        count_answer(false);
    }
    void count_answer(bool carried_out) {
        --unanswered_;
        owner_.on_answered(*this, carried_out);
    }

    owner& owner_;
    std::unique_ptr<exchange> work_;
    std::optional<seam::request_id> id_;
    connection* line_{nullptr};
    seam::clock_id clock_{};  ///< of the server that has answered
    std::size_t sent_{0};
    std::size_t unanswered_{0};
};

}  // namespace holdfast::stores::redis
