// The connection by which a client hears: LISTEN on a channel of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "stores/compare/retry_pause.hpp"
#include "stores/postgres/connection.hpp"
#include "stores/postgres/letters.hpp"

namespace holdfast::stores::postgres {

/// Behind a pooler nothing is listened for: in transaction mode the server's connection would go on listening for
/// whoever gets it next. Elsewhere it is believed after a notification of our own, sent by another connection, has come in.
/// Now and then it is asked something: a network that has forgotten the connection would else be silent for ever.
///
/// Thread-safety: none; its owner serialises.
class hearing final : connection::owner {
public:
    class listener {
    public:
        /// From here on nothing is missed.
        virtual void on_heard() = 0;
        /// It is not heard any more; `mute`: nothing can be heard there, or it was listened for and nothing came.
        virtual void on_deaf(base::error const& why, bool mute) = 0;
        virtual void on_said(heard what) = 0;
        /// Wants this said on the channel by another connection, and `on_proof_said` called with the nonce when that was
        /// answered.
        virtual void prove(std::string const& nonce) = 0;

    protected:
        ~listener() = default;
    };

    hearing(settings const& to, schema const& tables, net::poller& events, net::poller::tag about,
            listener& tell);

    [[nodiscard]] std::string const& channel() const noexcept { return channel_; }
    /// Begins; a second time does nothing.
    void start(base::instant now);
    [[nodiscard]] bool is_heard() const noexcept { return at_ == phase::hearing; }
    /// It is heard, or nobody should wait until it is.
    [[nodiscard]] bool is_settled() const noexcept {
        return at_ == phase::hearing || at_ == phase::pausing;
    }

    /// Whether the server has taken the proof. From then on it is expected: what is slow is another thing than mute.
    void on_proof_said(std::string const& nonce, bool taken, base::instant now);

    void advance(base::instant now);
    void tend(base::instant now);
    [[nodiscard]] base::instant due() const noexcept;
    [[nodiscard]] net::poller::tag about() const noexcept { return connection_.about(); }
    void cut(base::error const& why) {
        at_ = phase::off;
        if (!connection_.is_off()) connection_.cut(why);
    }
    void abandon() noexcept { connection_.abandon(); }

private:
    enum class phase { off, connecting, proving, hearing, pausing };

    void on_ready(connection& which) override;
    void on_broken(connection& which, base::error const& why) override;
    void on_notification(std::string_view payload) override;
    void go_deaf(base::error const& why, bool mute, std::chrono::milliseconds pause);
    void ask_for_life();

    settings const& to_;
    listener& tell_;
    std::string channel_;
    statement_text listen_;
    statement_text alive_;
    connection connection_;
    phase at_{phase::off};
    std::string nonce_;
    compare::retry_pause pause_{std::chrono::milliseconds{20}, std::chrono::milliseconds{1000}};
    /// After a proof that did not come: the server may have been slow once, or something swallows them all.
    compare::retry_pause mute_pause_{std::chrono::seconds{2}, std::chrono::seconds{60}};
    /// The proof is too late, the pause is over, or nothing has been asked on the connection for long.
    base::instant change_at_{base::never};
    base::instant now_{};
};

}  // namespace holdfast::stores::postgres
