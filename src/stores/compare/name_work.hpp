// The work of a client on names: its operations, one after the other on each name.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "stores/compare/client_state.hpp"
#include "stores/compare/name_operation.hpp"

namespace holdfast::stores::compare {

/// Judges, writes, and judges again. What is known of a name is kept from one operation to the next: what was
/// seen, what was written, what a letter brought. It may be old, which the condition of a step finds out;
/// an answer for which nothing is written is given only from what was fetched for it.
///
/// Thread-safety: none; it belongs to its machine.
class name_work {
public:
    explicit name_work(client_state& client) : client_{client} {}

    void begin(std::shared_ptr<name_operation> op);

    /// Does what time has brought, and whatever of it is ours.
    void touch(name_key const& key);

    /// What a letter brought; it was so at one moment.
    void learn(view seen);
    /// Nothing that is known may be relied on.
    void forget_all();

    /// Somebody with whom we stand in line is dead.
    void on_session_end(session_id which);

    /// Names in whose line this client waits.
    [[nodiscard]] std::set<name_key> waited_for() const;

    /// Finds claims of ours that were granted while nobody told us.
    void observe(view const& seen);

private:
    using operation = std::shared_ptr<name_operation>;

    /// Conflicts with others that one request may have; then it fails, and the engine asks again after a pause.
    static constexpr unsigned most_tries = 24;

    struct name_state {
        std::deque<operation> queue{};   ///< the first one is under way
        std::optional<view> known{};     ///< perhaps as the name is now
        std::set<session_id> watched{};  ///< who stands in our way
    };

    void start(operation const& op);
    void prepare_end(operation const& op);
    void decide(operation const& op);
    void fetch(operation const& op);
    void commit(operation const& op, verdict&& decided);
    void on_outcome(operation const& op, verdict& decided, outcome&& what, reading when);
    void on_committed(operation const& op, verdict& decided, committed const& what);
    void on_fenced(operation const& op, fenced what);
    void try_again(operation const& op);
    void give_up(operation const& op);
    void withdraw(operation const& op, seam::reply_body refusal);
    void finish(operation const& op, seam::reply_body body);
    void fail(operation const& op, base::error why);
    [[nodiscard]] bool may_assume(name_operation const& op);
    [[nodiscard]] judging context_of(name_operation const& op) const;
    void note_answer(name_operation const& op, seam::reply_body& body);
    void wait_in_line(name_operation const& op);
    void pass_on(name_operation const& op, seam::notice what);
    void stop_watching(name_key const& key, name_state& name);
    void forget_idle();

    client_state& client_;
    std::map<name_key, name_state> names_;
};

}  // namespace holdfast::stores::compare
