// A request of the seam whose commands are under way.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <boost/intrusive/list.hpp>

#include "stores/redis/exchange.hpp"
#include "stores/redis/question.hpp"

namespace holdfast::stores::redis {

/// Sends what an exchange wants sent and gives it the answers.
///
/// Thread-safety: none; its owner serialises.
class pending_request final : public asker, public boost::intrusive::list_base_hook<> {
public:
    class owner {
    public:
        /// Sends a command to the server that it is for.
        virtual void send(question what) = 0;
        /// A command was answered, by the server with this clock; 0: that was a failure. May end the request.
        virtual void on_answered(pending_request& request, seam::clock_id by) = 0;

    protected:
        ~owner() = default;
    };

    pending_request(owner& of, std::unique_ptr<exchange> work, std::optional<seam::request_id> id)
        : owner_{of}, work_{std::move(work)}, id_{id}, to_{work_->outbox.front().to} {}

    /// Sends what the exchange wants sent.
    void send(base::instant give_up) {
        auto out = std::exchange(work_->outbox, {});
        unanswered_ += out.size();
        for (auto& one : out)
            owner_.send({.what = std::move(one),
                         .from = this,
                         .which = sent_++,
                         .give_up = give_up,
                         .answer_within = answer_within});
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

    /// The server that its first command is for.
    [[nodiscard]] route const& to() const noexcept { return to_; }

    [[nodiscard]] bool spans_servers() const noexcept { return work_->spans_servers(); }

    bool deaf{false};  ///< relies on messages, and was sent before any could arrive
    std::chrono::milliseconds answer_within{0};  ///< of a renewal

private:
    void on_answer(std::size_t which, answer const& what, seam::clock_id clock) override {
        // Times of two servers cannot stand in one reply, unless nobody compares them.
        if (clock_ == seam::clock_id{} && !work_->spans_servers()) clock_ = clock;
        if (clock != clock_ && !work_->spans_servers())
            return on_failure(which,
                              {errc::store_unavailable, "another server has come to answer"});
        work_->on_answer(which, what);
        count_answer(clock);
    }
    void on_failure(std::size_t which, base::error const& why) override {
        work_->on_failure(which, why);
        count_answer({});
    }
    void on_cut(std::size_t which, base::error const& why) override {
        work_->on_cut(which, why);
        count_answer({});
    }
    void count_answer(seam::clock_id by) {
        --unanswered_;
        owner_.on_answered(*this, by);
    }

    owner& owner_;
    std::unique_ptr<exchange> work_;
    std::optional<seam::request_id> id_;
    route to_;
    seam::clock_id clock_{};  ///< of the server that has answered
    std::size_t sent_{0};
    std::size_t unanswered_{0};
};

}  // namespace holdfast::stores::redis
