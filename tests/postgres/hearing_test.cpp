// When a client takes its channel for mute: a server that is slow to take the proof is not.
#include "stores/postgres/hearing.hpp"

#include <optional>
#include <string>

#include "postgres/driver_fixture.hpp"

namespace holdfast::postgres_tests {
namespace {

class postgres_hearing : public testing::Test, protected postgres::hearing::listener {
protected:
    /// Until it wants its proof said. From there on no time passes but the test's.
    void listen() {
        now_ = base::boot_clock::now();
        hearing_.start(now_);
        auto const end = now_ + 30s;
        while (!wanted_ && now_ < end) {
            poller_.wake_by(now_ + 20ms);
            (void)poller_.wait();
            now_ = base::boot_clock::now();
            hearing_.advance(now_);
            hearing_.tend(now_);
        }
        ASSERT_TRUE(wanted_);
    }
    void pass(std::chrono::seconds time) {
        now_ += time;
        hearing_.tend(now_);
    }
    void answer_proof(bool taken) { hearing_.on_proof_said(*wanted_, taken, now_); }

    enum class told { nothing, deaf, mute };
    told told_{told::nothing};

private:
    void on_heard() override {}
    void on_deaf(base::error const&, bool mute) override { told_ = mute ? told::mute : told::deaf; }
    void on_said(postgres::heard) override {}
    void prove(std::string const& nonce) override { wanted_ = nonce; }

    postgres::settings to_{postgres::settings::parse(base::url::parse(server().url()))};
    postgres::schema tables_{to_.prefix};
    net::poller poller_;
    base::instant now_{};
    std::optional<std::string> wanted_;
    postgres::hearing hearing_{to_, tables_, poller_, 0, *this};
};

TEST_F(postgres_hearing, waits_for_the_server_to_take_the_proof) {
    listen();
    pass(10s);
    EXPECT_EQ(told_, told::nothing);
}

TEST_F(postgres_hearing, is_mute_when_a_proof_that_was_taken_does_not_come) {
    listen();
    pass(10s);
    answer_proof(true);
    EXPECT_EQ(told_, told::nothing);
    pass(2s);
    EXPECT_EQ(told_, told::mute);
}

TEST_F(postgres_hearing, begins_again_when_the_proof_was_not_taken) {
    listen();
    answer_proof(false);
    EXPECT_EQ(told_, told::deaf);
}

}  // namespace
}  // namespace holdfast::postgres_tests
