// The work of a client on names: its operations, one after the other on each name.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "stores/compare/client_state.hpp"
#include "stores/compare/name_operation.hpp"
#include "stores/compare/own_news.hpp"

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

    /// A renewal, of what was seen for it. Where others are under way on the name it does not wait for them: a claim
    /// that is not found as it should be is `unknown` then, and is asked for again.
    void renew(std::shared_ptr<name_operation> op);

    /// Does what time has brought, and whatever of it is ours. `tells_first`, `tells_holder`: somebody joined the line
    /// unseen, and is told now that the name is kept; and whoever holds is told of it.
    void touch(name_key const& key, bool tells_first = false, bool tells_holder = false);

    /// What a letter brought; it was so at one moment.
    void learn(view seen);
    /// Nothing that is known may be relied on.
    void forget_all();

    /// Somebody with whom we stand in line is dead.
    void on_session_end(session_id which);

    /// Names in whose line this client waits.
    [[nodiscard]] std::set<name_key> waited_for() const;

    /// Finds claims of ours that were granted while nobody told us. `stretch`: in which the view was asked for.
    void observe(view const& seen, std::uint64_t stretch) { news_.observe(seen, stretch); }

private:
    using operation = std::shared_ptr<name_operation>;

    /// Conflicts with others that one request may have; then it fails, and the engine asks again after a pause.
    static constexpr unsigned most_tries = 24;
    /// So many are remembered as they were last seen.
    static constexpr std::size_t most_names = 1024;
    /// That a step asks for beside its work.
    static constexpr std::size_t most_sessions = 32;

    struct name_state {
        std::deque<operation> queue{};  ///< the first one is under way, perhaps with some behind it
        bool advancing{false};          ///< the next ones are being started
        std::optional<view> known{};    ///< perhaps as the name is now
        /// By the order of all that the client does: the name was so at a later moment than this, and so were the
        /// sessions that were looked up with it.
        std::uint64_t known_as_of{0};
        std::uint64_t looked_as_of{0};
        std::set<session_id> watched{};  ///< who stands in our way
    };

    using group = std::vector<operation>;

    void advance(name_key const& key);
    void start(operation const& op);
    [[nodiscard]] bool answer_without_store(operation const& op);
    void take_up(name_operation& op);
    void prepare_end(operation const& op);
    void decide(operation const& op);
    void fetch(operation const& op);
    [[nodiscard]] bool may_answer(name_operation const& op, seam::reply_body const& body);
    void answer_early(operation const& op, seam::reply_body body);
    [[nodiscard]] bool joinable(name_operation const& op, own_session const& with);
    [[nodiscard]] group together_with(operation const& op);
    void commit(group all, verdict&& decided);
    void on_outcome(group const& all, verdict& decided, outcome&& what);
    void on_committed(group const& all, verdict& decided, committed const& what);
    void on_fenced(group const& all, fenced what);
    void give_up(operation const& op);
    void withdraw(operation const& op, seam::reply_body refusal);
    void finish(operation const& op, seam::reply_body body);
    void fail(operation const& op, base::error why);
    [[nodiscard]] bool may_assume(name_operation const& op);
    [[nodiscard]] bool is_absent(name_operation const& op);
    [[nodiscard]] judging context_of(name_operation const& op) const;
    void wait_in_line(name_operation const& op);
    void stop_watching(name_key const& key, name_state& name);
    void forget_idle();

    client_state& client_;
    own_news news_{client_};
    std::map<name_key, name_state> names_;
    std::size_t forget_above_{most_names};
    std::uint64_t order_{0};        ///< of all that the client does
    std::uint64_t noted_as_of_{0};  ///< the store told its time after this
};

}  // namespace holdfast::stores::compare
