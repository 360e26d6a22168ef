// What the server has for this client, which has to ask for it.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stores/compare/outbox.hpp"
#include "stores/mysql/durable_grants.hpp"
#include "stores/mysql/statements.hpp"

namespace holdfast::stores::mysql {

/// Letters lie in a table, and one packet for the whole client asks for them and for changes of watched names: often
/// while a claim of the client stands in a line or a name is watched, seldom while it has a session, else never.
///
/// A letter that was read may be undone by a crash of the server. It is delivered when a write that came later has been
/// acknowledged: its own removal from the table, or the sign of life that brought it along.
///
/// Thread-safety: none; its owner serialises.
class mailbox {
public:
    struct surroundings {
        std::function<void(std::string, std::function<void(answer)>)> send;
        std::function<bool()> is_up;        ///< there is a connection
        std::chrono::milliseconds timeout;  ///< no answer comes later
        durable_grants& durable;
    };

    mailbox(compare::outbox& out, base::instant const& now, surroundings around)
        : out_{out}, now_{now}, around_{std::move(around)}, chance_{base::entropy()} {}

    /// The session lives, and gets letters as long as that.
    void expect_letters(compare::session_id id, std::chrono::milliseconds lease);
    void prolong(compare::session_id id);
    void forget(compare::session_id id);
    [[nodiscard]] bool is_own(compare::session_id id) const { return own_.contains(id); }

    /// `on_changed` is told of what happens after `seen`.
    void watch(compare::name_key const& key) { watched_.try_emplace(key); }
    void was_seen(compare::name_key const& key, compare::stamp seen);
    void unwatch(compare::name_key const& key) { watched_.erase(key); }

    /// Something may come soon.
    void hasten();

    /// Whose letters a packet is to bring along; and what its answer has of them. `durable`: they were read before a
    /// write of the same packet, which was carried out.
    [[nodiscard]] std::vector<compare::session_id> addresses() const;
    void take_letters(std::vector<row> const& found, bool durable);
    /// The server is another one, or was: what was read of it counts no more. To be told as a gap.
    void forget_letters() { letters_.clear(); }

    /// What time brings.
    void tend();
    [[nodiscard]] base::instant due() const noexcept {
        return removing_ ? base::never : std::min(asking_ ? base::never : ask_at_, remove_at_);
    }

private:
    struct expecting {
        std::chrono::milliseconds lease{};
        base::instant until{};  ///< at least so long it may get letters
    };
    struct read_letter {
        compare::session_id to{};
        std::string body;  ///< until it is delivered
        bool delivered{false};
        /// One that is no more in the table is remembered for a time: an answer from before, by another connection, may
        /// still bring it.
        base::instant until{base::never};
    };
    using read_letters = std::map<letter_key, read_letter>;

    /// Whether there were new ones.
    bool note(std::vector<row> const& found);
    void deliver(read_letters::value_type& letter);
    void remove();
    void on_removed(std::vector<letter_key> const& letters, std::uint64_t count);
    bool take_changes(std::vector<row> const& found, std::vector<compare::name_key> const& asked);
    void on_answer(answer const& found, std::vector<compare::name_key> const& asked);
    void plan(bool news, std::uint64_t standing);

    compare::outbox& out_;
    base::instant const& now_;
    surroundings const around_;
    base::random chance_;
    std::map<compare::session_id, expecting> own_;
    std::map<compare::name_key, std::optional<compare::stamp>> watched_;  ///< as last seen
    read_letters letters_;
    bool waiting_{false};        ///< for a grant, or a change
    bool asking_{false};         ///< an answer is to come
    bool removing_{false};       ///< letters, and an answer is to come
    std::uint64_t standing_{0};  ///< in line, up to the one of ours who is nearest
    std::chrono::microseconds pause_{};
    base::instant ask_at_{base::never};
    base::instant remove_at_{base::never};
};

}  // namespace holdfast::stores::mysql
