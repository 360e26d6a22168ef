// The machine of a store that compares: requests in, driver calls out; outcomes in, replies and notices out. No I/O.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "seam/store.hpp"
#include "stores/compare/client_state.hpp"
#include "stores/compare/driver.hpp"
#include "stores/compare/evictions.hpp"
#include "stores/compare/gatherings.hpp"
#include "stores/compare/message.hpp"
#include "stores/compare/name_work.hpp"

namespace holdfast::stores::compare {

/// Everything a store of this family does but reach its server.
///
/// Thread-safety: none; whoever owns it has a lock.
class machine {
public:
    /// The driver outlives the machine.
    machine(driver& to, environment around);

    /// Begins a request; its reply is among the results sooner or later.
    void take(seam::request_id id, seam::request const& what);

    // As `driver_events` says.
    void on_outcome(ticket which, outcome what, reading when);
    void on_letter(session_id to, std::string const& body, stamp written);
    void on_gap();
    void on_doubt(std::string why);
    void on_changed(name_key const& key);
    void on_session_end(session_id which) { work_.on_session_end(which); }

    /// When `on_time` has something to do; `never` while there is nothing.
    [[nodiscard]] base::instant next_time() const noexcept { return look_at_; }
    void on_time();

    [[nodiscard]] results take_results() { return std::exchange(client_.out, {}); }

    /// Ends the sessions with which nothing lives any more.
    void close() noexcept;

private:
    void begin(seam::request_id id, seam::hello const& what);
    void begin(seam::request_id id, seam::renew const& what);
    void begin(seam::request_id id, seam::inspect const& what);
    void begin(seam::request_id id, seam::evict const& what);
    void begin(seam::request_id id, seam::watch const& what);
    void begin(seam::request_id id, seam::unwatch const& what);
    void begin(seam::request_id id, seam::submit const& what);
    void begin(seam::request_id id, seam::settle const& what);
    void begin(seam::request_id id, seam::convert const& what);
    void begin(seam::request_id id, seam::adjust const& what);
    void begin(seam::request_id id, seam::read const& what);
    void begin(seam::request_id id, seam::swap const& what);
    void work_on(seam::request_id id, name_key key, seam::request what);
    void answer(seam::request_id id, seam::reply_body body);
    [[nodiscard]] bool is_tombstoned(seam::claim_id id);

    void hear(session_id to, granted_message& what);
    void hear(session_id to, gone_message& what);
    void hear(session_id to, contended_message& what);
    void hear(session_id to, changed_message& what);
    [[nodiscard]] own_claim* addressed(session_id to, seam::claim_id id, std::uint64_t secret);
    void lose(session_id which);
    void plan_look(bool something_happened);
    void on_looked_at(std::vector<view> const& seen, std::uint64_t stretch);

    struct watched_name {
        std::set<seam::cell_key> keys{};  ///< that the engine asked for
        stamp seen{};                     ///< where changes are not pushed
    };

    client_state client_;
    name_work work_{client_};
    gatherings many_{client_, work_};
    evictions evictions_{client_, work_, many_};
    std::map<name_key, watched_name> watches_;
    base::instant look_at_{base::never};
    std::chrono::milliseconds look_pause_{0};
    bool is_next_{false};  ///< in one of the lines
    std::size_t looks_under_way_{0};
    std::uint64_t taken_{0};  ///< requests
};

}  // namespace holdfast::stores::compare
