// Calls that gather, without a connection: what is sent is seen, and answered as the test says.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stores/redis/gathering.hpp"
#include "stores/redis/native_layout.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

class gathering_test : public ::testing::Test, gathering::owner {
protected:
    struct request final : asker {
        std::size_t number{0};
        std::vector<std::size_t>* answered{nullptr};
        std::optional<answer> got{};
        std::optional<base::error> failed{};
        bool was_cut{false};
        bool rejects{false};  ///< whatever it is answered

        void on_answer(std::size_t, answer const& what, seam::clock_id) override {
            EXPECT_FALSE(got || failed) << "answered twice";
            if (rejects) throw garbled{"rejected"};
            got = what;
            answered->push_back(number);
        }
        void on_failure(std::size_t, base::error const& why) override {
            EXPECT_FALSE(got || failed) << "answered twice";
            failed = why;
        }
        void on_cut(std::size_t which, base::error const& why) override {
            was_cut = true;
            on_failure(which, why);
        }
    };

    /// Those whose names begin with "same" differ in nothing but the upper half.
    static std::size_t hash_of(std::string const& name) {
        auto const hash = std::hash<std::string>{}(name);
        return name.starts_with("same") ? (hash >> 32 << 32) + 7 : hash;
    }
    seam::claim claim(std::string name) {
        auto spec = std::make_shared<seam::claim_spec>();
        spec->name = std::move(name);
        spec->hash = hash_of(spec->name);
        return {std::move(spec), {self_.id, ++last_}, {}};
    }

    question make(seam::request what) {
        auto& one = requests_.emplace_back();
        one.number = requests_.size() - 1;
        one.answered = &answered_;
        auto work = layout_.begin(std::move(what));
        return {.what = std::move(work->outbox.front()), .from = &one, .give_up = give_up_};
    }
    std::size_t add(seam::request what) {
        auto asked = make(std::move(what));
        EXPECT_TRUE(all_.takes(asked));
        all_.add(std::move(asked));
        return requests_.back().number;
    }
    std::size_t submit(std::string name) {
        return add(seam::submit{{claim(std::move(name))}, true, seam::store_time::max()});
    }
    std::size_t settle(std::string name) { return add(seam::settle{{claim(std::move(name))}}); }

    void send_alone(question what) override { sent_.push_back(std::move(what)); }
    [[nodiscard]] base::instant answer_by() const override { return answer_by_; }

    /// What was sent, taken away.
    std::vector<question> take() { return std::exchange(sent_, {}); }
    std::vector<question> send() {
        all_.send();
        return take();
    }
    /// As many as may be under way before others gather: of a0 with b0, and of a1 with b1.
    std::vector<question> send_two_batches() {
        std::vector<question> out;
        for (auto const* const number : {"0", "1"}) {
            submit(std::string{"a"} + number);
            submit(std::string{"b"} + number);
            all_.send_when_due();
            for (auto& each : take())
                out.push_back(std::move(each));
        }
        EXPECT_EQ(out.size(), 2U);
        return out;
    }
    /// The requests that a question stands for: only that of a single one is known.
    [[nodiscard]] std::optional<std::size_t> alone(question const& what) const {
        if (what.is_batch) return std::nullopt;
        return static_cast<request const*>(what.from)->number;
    }

    static answer many(std::int64_t now, std::int64_t first, std::string_view done) {
        answer out;
        out.add(answer::kind::array, 3);
        out.add(answer::kind::integer, now);
        out.add(answer::kind::integer, first);
        out.add(answer::kind::text, done);
        return out;
    }
    static void reply(question const& to, answer const& what) {
        to.from->on_answer(to.which, what, seam::clock_id{7});
    }

    seam::identity self_{seam::client_id{1}, "here", 1, ""};
    native_layout layout_{"holdfast:", self_, claim_secrets{1, 2}};
    gathering all_{*this};
    std::deque<request> requests_;
    std::vector<std::size_t> answered_;
    std::vector<question> sent_;
    base::instant give_up_{std::chrono::seconds{100}};    ///< of what is added
    base::instant answer_by_{std::chrono::seconds{200}};  ///< of what is sent later
    std::uint64_t last_{0};
};

}  // namespace holdfast::stores::redis
