// One connection to a server that answers what the test says.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stores/redis/connection.hpp"
#include "stores/redis/native_layout.hpp"
#include "stores/redis/pending_request.hpp"
#include "support/raw_server.hpp"
#include "unit/redis_command_reader.hpp"

namespace holdfast::stores::redis {

using namespace std::chrono_literals;

class redis_connection : public testing::Test, connection::watcher, pending_request::owner {
protected:
    static constexpr std::string_view all_there =
        "*12\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n";

    explicit redis_connection(std::string_view inventory = all_there) {
        line_.vet(true);
        greet(inventory);
    }
    /// Connects to a server that has these scripts.
    void greet(std::string_view inventory) {
        ready_.answered = false;
        line_.send(command{"TIME"}, ready_, 0, base::boot_clock::now());
        EXPECT_EQ(sent(4), (strings{"CLIENT", "SCRIPT", "INFO", "ROLE"}));
        say("+OK\r\n" + std::string{inventory} + "-ERR no INFO\r\n-ERR no ROLE\r\n");
        EXPECT_EQ(sent(1), strings{"TIME"});
        say("+OK\r\n");
        EXPECT_TRUE(until([&] { return ready_.answered; }));
    }

    seam::claim claim(std::string name) {
        auto spec = std::make_shared<seam::claim_spec>();
        spec->name = std::move(name);
        spec->hash = std::hash<std::string>{}(spec->name);
        return {std::move(spec), {self_.id, ++last_}, {}};
    }

    /// Queues a request: nothing is written before `sent`.
    std::size_t begin(seam::request what, std::chrono::seconds within = 15s) {
        auto const number = requests_.size();
        pending_request::owner& told = *this;
        requests_.push_back(std::make_unique<pending_request>(told, layout_.begin(std::move(what)),
                                                              seam::request_id{number}));
        replies_.emplace_back();
        requests_.back()->send(base::boot_clock::now() + within);
        return number;
    }
    std::size_t submit(std::string name) {
        return begin(seam::submit{{claim(std::move(name))}, true, seam::store_time::max()});
    }
    std::size_t settle(std::string name) { return begin(seam::settle{{claim(std::move(name))}}); }

    template <class Condition>
    bool until(Condition is_so) {
        auto const end = base::boot_clock::now() + 20s;
        while (!is_so() && base::boot_clock::now() < end) {
            auto now = base::boot_clock::now();
            line_.tend(now);
            line_.flush(now);
            bool const ready = !events_.wait(now + 5ms).empty();
            if (ready || line_.has_more()) line_.on_ready(base::boot_clock::now());
        }
        return is_so();
    }

    /// What the server has got since the last time, once it is as many commands.
    strings sent(std::size_t count) {
        EXPECT_TRUE(until([&] { return got_.size() >= count; })) << "of " << count;
        return got_.take();
    }
    void say(std::string_view answer) const { peer_->send(answer); }
    /// Writes what may be written, and sees that the server gets none of it but a mark of our own.
    bool sends_nothing() {
        line_.flush(base::boot_clock::now());
        line_.tell(command{"PING"});
        return sent(1) == strings{"PING"};
    }
    /// The answer is read before anything else is written.
    void hear(std::string_view answer) {
        say(answer);
        (void)events_.wait(base::boot_clock::now() + 20s);
        line_.on_ready(base::boot_clock::now());
    }

    [[nodiscard]] bool is_answered(std::size_t which) const { return replies_[which].has_value(); }
    [[nodiscard]] bool is_granted(std::size_t which) const {
        return is_answered(which) && std::holds_alternative<seam::granted>(replies_[which]->body);
    }
    [[nodiscard]] bool has_failed(std::size_t which) const {
        return is_answered(which) && std::holds_alternative<seam::failure>(replies_[which]->body);
    }

    static std::string many(std::uint64_t first, std::string const& done) {
        return "*3\r\n:1000\r\n$" + std::to_string(std::to_string(first).size()) + "\r\n" +
               std::to_string(first) + "\r\n$" + std::to_string(done.size()) + "\r\n" + done +
               "\r\n";
    }

private:
    struct first_asker final : asker {
        bool answered{false};
        void on_answer(std::size_t, answer const&, seam::clock_id) override { answered = true; }
        void on_failure(std::size_t, base::error const& why) override { ADD_FAILURE() << why.text; }
    };

    void send(question what) override { line_.send(std::move(what), base::boot_clock::now()); }
    void on_answered(pending_request& request, seam::clock_id) override {
        if (!request.is_answered()) return;
        auto& reply = replies_[static_cast<std::size_t>(*request.id())];
        EXPECT_FALSE(reply) << "answered twice";
        reply = request.close();
    }
    void on_open() override {}
    void on_push(answer const&) override { throw garbled{"nobody asked"}; }
    void on_break(base::error const& why) override { broken_ = why.text; }
    bool takes_over(question& what, std::string_view) override {
        if (!in_cluster_) return false;
        taken_over_.push_back(std::move(what));
        return true;
    }

    [[nodiscard]] std::shared_ptr<settings const> target() const {
        return std::make_shared<settings const>(
            settings::parse(base::url::parse(there_.url("?timeout=15s"))));
    }

    command_reader got_;
    support::raw_socket const* peer_{nullptr};  ///< from the first command on
    support::raw_server there_{[this](support::raw_socket const& from) {
        peer_ = &from;
        for (auto bytes = from.receive(); !bytes.empty(); bytes = from.receive())
            got_.feed(bytes);
    }};
    first_asker ready_;
    seam::identity self_{seam::client_id{1}, "here", 1, ""};

protected:
    native_layout layout_{"holdfast:", self_, claim_secrets{1, 2}};

private:
    std::vector<std::unique_ptr<pending_request>> requests_;
    std::vector<std::optional<seam::reply>> replies_;
    std::uint64_t last_{0};
    net::poller events_;
    std::string broken_;

protected:
    connection line_{target(), "test", *this, events_, 1, 1};
    [[nodiscard]] std::string const& broken() const noexcept { return broken_; }
    bool in_cluster_{false};
    std::vector<question> taken_over_;
};

}  // namespace holdfast::stores::redis
