// The ledger of the memory store: hash tables, a heap of holders and a list of waiters per name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/indexed_heap.hpp"
#include "stores/lease/ledger.hpp"
#include "stores/memory/memory_ballots.hpp"

namespace holdfast::stores::memory {

/// Thread-safety: none; its owner serialises.
class memory_ledger final : public lease::ledger {
public:
    /// `first` is where sequences begin: the wall clock's microseconds, so that a store that began
    /// anew goes on rising.
    explicit memory_ledger(std::uint64_t first) noexcept : last_{first} {}
    ~memory_ledger() override;

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

    seam::sequence next_sequence() override { return seam::sequence{++last_}; }

    lease::ballot_memory* ballots() override { return &ballots_; }

    void put_tombstone(seam::claim_id id, seam::store_time until) override;
    bool has_tombstone(seam::claim_id id, seam::store_time now) override;

    lease::cell_record* find_cell(seam::cell_key const& key) override;
    void put_cell(seam::cell_key const& key, lease::cell_record value) override;
    void erase_cell(seam::cell_key const& key) override;
    void purge_cells(lease::name_record& record, seam::store_time now) override;

    void watch(seam::client_id client, seam::cell_key const& key, bool on) override;
    bool watched() override { return !watchers_.empty(); }
    void each_watcher(seam::cell_key const& key,
                      std::function<void(seam::client_id)> const& visit) override;

    std::vector<std::string> names(std::string_view prefix, std::string_view after,
                                   std::size_t most) override;
    std::vector<std::string> waited_names(std::string_view after, std::size_t most) override;

    /// A name in which something is over although nobody has asked for it since, and nothing when
    /// there is none. It is not named again before `look_after` was called for it, or it was erased.
    [[nodiscard]] lease::name_record* overdue(seam::store_time now);
    void look_after(lease::name_record& record, seam::store_time now);

    /// Drops the watches of a client that closed.
    void forget(seam::client_id client);

    /// How many names and cells are stored, for tests that nothing is left behind.
    [[nodiscard]] std::size_t size() const noexcept;

private:
    struct slot : lease::entry, boost::intrusive::list_base_hook<> {
        base::heap_place place;
    };
    struct soonest_first {
        static seam::store_time key(slot const& own) noexcept { return own.expires; }
        static base::heap_place& place(slot& own) noexcept { return own.place; }
    };
    struct all_tag;
    struct waited_tag;
    template <class Tag>
    using order_hook =
        boost::intrusive::set_base_hook<boost::intrusive::tag<Tag>,
                                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

    struct name_row : lease::name_record, order_hook<all_tag>, order_hook<waited_tag> {
        std::size_t hash{0};
        bool used_now{false};  ///< else it only waits to be used again
        seam::store_time
            due{};  ///< nothing in it is over before, as long as it is on the timer queue
        base::heap_place place;
        base::indexed_heap<slot, soonest_first> holding;
        boost::intrusive::list<slot> line;
    };
    struct due_first {
        static seam::store_time key(name_row const& record) noexcept { return record.due; }
        static base::heap_place& place(name_row& record) noexcept { return record.place; }
    };
    struct by_name {
        using type = std::string_view;
        std::string_view operator()(name_row const& record) const noexcept { return record.name; }
    };
    /// Names in order; a condition and something else may have the same.
    template <class Tag>
    using name_order =
        boost::intrusive::multiset<name_row, boost::intrusive::base_hook<order_hook<Tag>>,
                                   boost::intrusive::key_of_value<by_name>,
                                   boost::intrusive::constant_time_size<false>>;
    struct name_key {
        std::string_view name;
        std::size_t hash;
        bool operator==(name_key const& other) const noexcept { return name == other.name; }
    };
    struct name_hash {
        using is_avalanching = void;
        std::size_t operator()(name_key const& key) const noexcept { return key.hash; }
    };
    using name_table = boost::unordered_flat_map<name_key, std::unique_ptr<name_row>, name_hash>;

    name_table& table(bool condition) noexcept { return condition ? conditions_ : names_; }
    static bool is_condition(lease::name_record const& record) noexcept {
        return record.kind == lock_kind::condition;
    }
    std::unique_ptr<slot> take_slot();
    void sweep_idle();
    static void leave_line(name_row& record, slot& waiter);
    void expect_end(lease::name_record& record, seam::store_time when);
    [[nodiscard]] seam::store_time next_end(name_row const& record, seam::store_time now) const;
    void drop_tombstones(seam::store_time now);

    name_order<all_tag> ordered_;    ///< of both tables; before them, since they unlink themselves
    name_order<waited_tag> waited_;  ///< those with a line
    name_table names_;
    name_table conditions_;
    boost::unordered_flat_map<seam::claim_id, slot*, std::hash<seam::claim_id>> claims_;
    std::vector<std::unique_ptr<slot>>
        spare_;            ///< slots to use again, so that a hold allocates nothing
    std::size_t idle_{0};  ///< records that are kept although nothing is in them
    base::indexed_heap<name_row, due_first> agenda_;
    std::map<seam::claim_id, seam::store_time> tombstones_;
    std::set<std::pair<seam::store_time, seam::claim_id>> tombstones_by_end_;
    memory_ballots ballots_;
    std::map<seam::cell_key, lease::cell_record> cells_;
    std::map<seam::cell_key, std::set<seam::client_id>> watchers_;
    std::uint64_t last_;
};

}  // namespace holdfast::stores::memory
