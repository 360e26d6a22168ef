// Three members of a quorum that answer when they are told to, and its machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stores/quorum/machine.hpp"

namespace holdfast::stores::quorum {

using namespace std::chrono_literals;

class quorum_machine : public testing::Test {
protected:
    template <class Verb>
    [[nodiscard]] static bool is(outgoing const& each) {
        return std::holds_alternative<Verb>(each.what);
    }
    /// What has been sent since, of one kind.
    template <class Verb>
    std::vector<outgoing> take() {
        std::vector<outgoing> out;
        for (auto& each : machine_.take_outgoing())
            if (is<Verb>(each)) out.push_back(std::move(each));
        return out;
    }
    seam::request_id ask(seam::request what) {
        seam::request_id const id{++last_};
        machine_.take(id, what, now_);
        return id;
    }
    /// Each member is a server of its own; `life` is another one where it has begun anew.
    static std::uint64_t clock_of(std::size_t member, std::uint64_t life = 7) {
        return life * 10 + member;
    }
    void answer(outgoing const& to, seam::reply_body body, std::uint64_t life = 7) {
        answer_by(clock_of(to.member, life), to, std::move(body));
    }
    void answer_by(std::uint64_t clock, outgoing const& to, seam::reply_body body) {
        machine_.on_reply(to.member, to.id,
                          {store_time_of(now_ + 1h), std::move(body), seam::clock_id{clock}}, now_);
    }
    void pass(std::chrono::milliseconds span) {
        now_ += span;
        machine_.on_time(now_);
    }
    template <class Body>
    std::optional<Body> told(seam::request_id id) {
        for (auto& each : machine_.take_results().replies)
            replies_.insert_or_assign(each.first, std::move(each.second));
        auto const found = replies_.find(id);
        if (found == replies_.end()) return std::nullopt;
        auto const* const body = std::get_if<Body>(&found->second.body);
        return body == nullptr ? std::nullopt : std::optional{*body};
    }

    /// All members are new, and get their records.
    void found() {
        auto const id = ask(seam::hello{});
        for (auto const& each : take<seam::read>())
            answer(each, seam::cell{});
        for (auto const& each : take<seam::swap>()) {
            records_[each.member] = std::get<seam::swap>(each.what).value;
            answer(each, seam::swapped{1});
        }
        for (auto const& each : take<seam::read>())
            answer(each, seam::cell{1, records_[each.member]});
        ASSERT_TRUE(told<seam::done>(id));
    }
    [[nodiscard]] seam::submit wanted(std::chrono::milliseconds lease = 10s) {
        seam::claim_spec spec{.name = "q"};
        spec.lease = lease;
        subject_ = {std::make_shared<seam::claim_spec const>(std::move(spec)),
                    {seam::client_id{1}, ++last_}};
        return {.subject = subject_, .not_after = store_time_of(now_ + 3s)};
    }
    [[nodiscard]] seam::granted yes(outgoing const& to) const {
        return {{std::get<seam::submit>(to.what).ballot, store_time_of(now_ + 1h)}};
    }
    [[nodiscard]] seam::renewed alive() const {
        return {
            {{.found = seam::renewal::status::alive, .held = {.began = store_time_of(now_ + 1h)}}}};
    }
    /// Granted by the first two; the third has not answered.
    void hold() {
        auto const id = ask(wanted());
        auto const votes = take<seam::submit>();
        ASSERT_EQ(votes.size(), 3U);
        answer(votes[0], yes(votes[0]));
        EXPECT_FALSE(told<seam::granted>(id)) << "one of three";
        answer(votes[1], yes(votes[1]));
        ASSERT_TRUE(told<seam::granted>(id));
    }

    judgement const usual;
    machine machine_{{.agreed = agreement::on({"a", "b", "c"}, 60s),
                      .addresses = {"a", "b", "c"},
                      .self = seam::client_id{1},
                      .seed = 1,
                      .judge = &usual}};
    base::instant now_{1000h};
    std::uint64_t last_{0};
    seam::claim subject_;
    std::map<seam::request_id, seam::reply> replies_;
    std::map<std::size_t, std::string> records_;
};

}  // namespace holdfast::stores::quorum
