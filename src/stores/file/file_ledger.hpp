// The ledger of the file store: rows of the SQLite file, within one transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stores/file/clients.hpp"
#include "stores/file/database.hpp"
#include "stores/file/file_ballots.hpp"
#include "stores/lease/ledger.hpp"

namespace holdfast::stores::file {

/// Claims are written as they change, because the indexes answer who is first; names and the state of
/// the file are written once, by `flush`, since most change several times in a transaction.
///
/// A claim of a client that is provably gone is shown as expired, so that the rules end it as soon
/// as it stands in anybody's way.
///
/// Thread-safety: none; its owner serialises.
class file_ledger final : public lease::ledger {
public:
    file_ledger(database& file, clients& all) : file_{file}, clients_{all}, ballots_{file} {}

    /// At the beginning of a transaction: nothing that was read before is true any more.
    void begin(seam::store_time now);
    /// Before its end.
    void flush();

    lease::name_record* find(std::string_view name, std::size_t hash, bool condition) override;
    lease::name_record& make(seam::claim_spec const& spec) override;
    void save(lease::name_record& record) override;
    void erase(lease::name_record& record) override;

    lease::entry* find(lease::name_record& record, seam::claim_id id) override;
    lease::entry& add(lease::name_record& record, lease::entry made) override;
    void save(lease::name_record& record, lease::entry& changed) override;
    void promote(lease::name_record& record, lease::entry& waiter) override;
    void remove(lease::name_record& record, lease::entry& ended) override;
    lease::entry* soonest_holder(lease::name_record& record) override;
    lease::entry* first_waiter(lease::name_record& record) override;
    void each_holder(lease::name_record& record, visitor const& visit) override;
    void each_waiter(lease::name_record& record, visitor const& visit) override;

    seam::sequence next_sequence() override;

    lease::ballot_memory* ballots() override { return &ballots_; }

    void put_tombstone(seam::claim_id id, seam::store_time until) override;
    bool has_tombstone(seam::claim_id id, seam::store_time now) override;

    lease::cell_record* find_cell(seam::cell_key const& key) override;
    void put_cell(seam::cell_key const& key, lease::cell_record value) override;
    void erase_cell(seam::cell_key const& key) override;
    void purge_cells(lease::name_record& record, seam::store_time now) override;

    void watch(seam::client_id client, seam::cell_key const& key, bool on) override;
    bool watched() override;
    void each_watcher(seam::cell_key const& key,
                      std::function<void(seam::client_id)> const& visit) override;

    std::vector<std::string> names(std::string_view prefix, std::string_view after,
                                   std::size_t most) override;
    std::vector<std::string> waited_names(std::string_view after, std::size_t most) override;

    /// Drops the watches of a client that is no more.
    void forget(seam::client_id client);

    /// Rises by every call; orders the notices of a client.
    [[nodiscard]] std::int64_t next_serial();

    /// Whether `span` has passed since somebody last did the chore; if so it counts as done now.
    enum class chore { count_clients, sweep };
    [[nodiscard]] bool due(chore which, std::chrono::microseconds span);

private:
    struct name_row : lease::name_record {
        bool condition{false};
        bool stored{false};  ///< there is a row in the file
        bool erased{false};
        bool changed{false};
        std::optional<lease::entry*> soonest;  ///< holder, where known
        std::optional<lease::entry*> first;    ///< waiter, where known
    };
    struct state_row {
        std::int64_t mark{0};
        std::int64_t serial{0};
        std::int64_t watches{0};
        std::int64_t counted{0};
        std::int64_t swept{0};
        bool changed{false};
    };

    static name_row& row_of(lease::name_record& record) { return static_cast<name_row&>(record); }
    static std::string key_of(std::string_view name, bool condition);
    state_row& state();
    lease::entry* load(name_row& record, cursor const& row);
    lease::entry* top(name_row& record, bool held);
    void visit_all(name_row& record, char const* sql, visitor const& visit);
    void update(name_row& record, lease::entry const& entry);

    database& file_;
    clients& clients_;
    file_ballots ballots_;
    seam::store_time now_{};
    std::optional<state_row> state_;
    std::unordered_map<std::string, std::unique_ptr<name_row>> names_;
    std::unordered_map<seam::claim_id, std::unique_ptr<lease::entry>> entries_;
    std::optional<lease::cell_record> cell_;  ///< the one last found
};

}  // namespace holdfast::stores::file
