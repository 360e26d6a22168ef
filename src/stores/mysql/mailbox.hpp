// What the server has for this client, which has to ask for it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stores/compare/outbox.hpp"
#include "stores/mysql/answer.hpp"

namespace holdfast::stores::mysql {

/// Letters lie in a table, and one packet for the whole client asks for them and for changes of watched names: often
/// while a claim of the client stands in a line or a name is watched, seldom while it has a session, else never.
///
/// Thread-safety: none; its owner serialises.
class mailbox {
public:
    struct surroundings {
        std::function<void(std::string, std::function<void(answer)>)> send;
        std::function<bool()> is_up;        ///< there is a connection
        std::chrono::milliseconds timeout;  ///< no answer comes later
    };

    mailbox(compare::outbox& out, base::instant const& now, surroundings around)
        : out_{out}, now_{now}, around_{std::move(around)}, chance_{base::entropy()} {}

    /// The session lives, and gets letters as long as that.
    void expect_letters(compare::session_id id, std::chrono::milliseconds lease);
    void prolong(compare::session_id id);
    void forget(compare::session_id id);

    /// `on_changed` is told of what happens after `seen`.
    void watch(compare::name_key const& key) { watched_.try_emplace(key); }
    void was_seen(compare::name_key const& key, compare::stamp seen);
    void unwatch(compare::name_key const& key) { watched_.erase(key); }

    /// Something may come soon.
    void hasten();

    /// For a packet that brings the letters along; and what its answer has of them.
    [[nodiscard]] std::string question() const;
    void take_letters(std::vector<row> const& found);

    /// What time brings.
    void tend();
    [[nodiscard]] base::instant due() const noexcept { return asking_ ? base::never : ask_at_; }

private:
    struct expecting {
        std::chrono::milliseconds lease{};
        base::instant until{};  ///< at least so long it may get letters
    };
    /// A letter that was delivered. One that is no more in the table is remembered for a time: an answer from before, by
    /// another connection, may still bring it.
    struct read_letter {
        compare::session_id to{};
        base::instant until{base::never};
    };

    [[nodiscard]] std::vector<compare::session_id> addresses() const;
    [[nodiscard]] std::vector<std::uint64_t> letters_in_table() const;
    void were_removed(std::vector<std::uint64_t> const& letters);
    /// Whether there were new ones.
    bool deliver(std::vector<row> const& found);
    bool take_changes(std::vector<row> const& found, std::vector<compare::name_key> const& asked);
    void on_answer(answer const& found, std::vector<compare::name_key> const& asked);
    void plan(bool news, std::uint64_t standing);

    compare::outbox& out_;
    base::instant const& now_;
    surroundings const around_;
    base::random chance_;
    std::map<compare::session_id, expecting> own_;
    std::map<compare::name_key, std::optional<compare::stamp>> watched_;  ///< as last seen
    std::map<std::uint64_t, read_letter> read_;
    bool waiting_{false};        ///< for a grant, or a change
    bool asking_{false};         ///< an answer is to come
    std::uint64_t standing_{0};  ///< in line, up to the one of ours who is nearest
    std::chrono::microseconds pause_{};
    base::instant ask_at_{base::never};
};

}  // namespace holdfast::stores::mysql
