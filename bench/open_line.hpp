// The least that can hand a lock on in order, over the driver of a store that compares.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "stores/compare/driver.hpp"

namespace bench {

namespace compare = holdfast::stores::compare;

/// A claim waits by appending itself and looking; a release names the next holder in the head and writes to it, with
/// those who stand behind. No token, no label, and nobody survives the death of a holder.
class bare_member final : compare::driver_events {
public:
    using maker = std::function<std::unique_ptr<compare::driver>(compare::driver_events&)>;

    explicit bare_member(maker const& make) : driver_{make(*this)} {
        driver_->open(ticket(), session_, std::chrono::hours{1}, "bench");
        current_ = std::get<compare::opened>(await()).current;
    }
    ~bare_member() {
        driver_->close(session_);
        driver_->shut();
    }

    void lock() {
        mine_ = {.id = {holdfast::seam::client_id{static_cast<std::uint64_t>(session_)}, ++claims_},
                 .session = session_,
                 .body = text(session_)};
        line_.clear();
        auto step = step_on();
        step.head = head_for(session_);
        step.append_otherwise = {mine_};
        auto found = commit(std::move(step));
        while (auto* const missed = std::get_if<compare::missed>(&found)) {
            if (missed->found.written != compare::stamp{}) return await_letter();
            // It became free between the try and the look: whoever is first takes it.
            auto again = step_on();
            auto const& first = missed->found.line.front();
            if (first.id != mine_.id) return await_letter();
            again.head = head_for(session_);
            again.present = again.leave = {first};
            again.otherwise.line = 8;
            found = commit(std::move(again));
        }
        held_ = std::get<compare::committed>(found).written;
    }

    void unlock() {
        for (;;) {
            auto step = step_on();
            step.expected = held_;
            if (line_.empty()) {
                step.head = compare::head_write{.erase = true};
                step.nobody_behind = 0;
            } else {
                auto const& next = line_.front();
                step.head = head_for(next.session);
                step.present = step.leave = {next};
                step.letters = {{next.session, letter()}};
            }
            auto found = commit(std::move(step));
            auto* const missed = std::get_if<compare::missed>(&found);
            if (missed == nullptr) return;
            line_ = std::move(missed->found.line);
        }
    }

private:
    static std::string text(compare::session_id id) {
        return std::to_string(static_cast<std::uint64_t>(id));
    }
    static compare::head_write head_for(compare::session_id holder) {
        return {.body = text(holder), .sessions = {holder}, .bound = holder};
    }
    [[nodiscard]] compare::step step_on() const {
        compare::step out{.key = {"bench/bare", false}, .self = session_, .of = current_};
        out.otherwise.key = out.key;
        return out;
    }
    // Those behind the next holder.
    [[nodiscard]] std::string letter() const {
        std::ostringstream out;
        for (auto each = line_.begin() + 1; each != line_.end(); ++each)
            out << static_cast<std::uint64_t>(each->session) << ' ' << each->id.number << ' '
                << each->place << ' ';
        return std::move(out).str();
    }

    void await_letter() {
        while (!heard_)
            driver_->drive(holdfast::base::boot_clock::now() + std::chrono::seconds{1});
        heard_ = false;
    }
    void on_letter(compare::session_id, std::string body, compare::stamp written) override {
        std::istringstream in{body};
        line_.clear();
        std::uint64_t session = 0;
        std::uint64_t number = 0;
        std::uint64_t place = 0;
        while (in >> session >> number >> place)
            line_.push_back({.id = {holdfast::seam::client_id{session}, number},
                             .session = compare::session_id{session},
                             .place = place});
        held_ = written;
        heard_ = true;
    }

    compare::ticket ticket() { return compare::ticket{++tickets_}; }
    compare::outcome commit(compare::step what) {
        driver_->commit(ticket(), std::move(what));
        return await();
    }
    compare::outcome await() {
        while (!answered_)
            driver_->drive(holdfast::base::boot_clock::now() + std::chrono::seconds{1});
        answered_ = false;
        return std::move(outcome_);
    }
    void on_outcome(compare::ticket, compare::outcome what, compare::reading) override {
        outcome_ = std::move(what);
        answered_ = true;
    }
    void on_gap() override {}
    void on_doubt(std::string) override {}
    void on_changed(compare::name_key) override {}
    void on_session_end(compare::session_id) override {}

    std::unique_ptr<compare::driver> driver_;
    compare::session_id session_{holdfast::base::entropy() >> 1};
    compare::generation current_{};
    compare::stamp held_{};
    compare::line_item mine_{};
    std::vector<compare::line_item> line_;
    compare::outcome outcome_;
    std::uint64_t tickets_{0};
    std::uint64_t claims_{0};
    bool answered_{false};
    bool heard_{false};
};

}  // namespace bench
