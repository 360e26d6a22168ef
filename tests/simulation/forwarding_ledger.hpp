// A ledger that hands everything on to the ledger: a fault is one function put in its place.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stores/lease/ledger.hpp"

namespace holdfast::simulation {

class forwarding_ledger : public stores::lease::ledger {
public:
    using record = stores::lease::name_record;
    using entry = stores::lease::entry;
    using cell_record = stores::lease::cell_record;

    explicit forwarding_ledger(ledger& to) noexcept : to_{to} {}

    record* find(std::string_view name, std::size_t hash, bool condition) override {
        return to_.find(name, hash, condition);
    }
    record& make(seam::claim_spec const& spec) override { return to_.make(spec); }
    void save(record& it) override { to_.save(it); }
    void erase(record& it) override { to_.erase(it); }

    entry* find(record& of, seam::claim_id id) override { return to_.find(of, id); }
    entry& add(record& of, entry made) override { return to_.add(of, std::move(made)); }
    void save(record& of, entry& changed) override { to_.save(of, changed); }
    void promote(record& of, entry& waiter) override { to_.promote(of, waiter); }
    void remove(record& of, entry& ended) override { to_.remove(of, ended); }
    entry* soonest_holder(record& of) override { return to_.soonest_holder(of); }
    entry* first_waiter(record& of) override { return to_.first_waiter(of); }
    void each_holder(record& of, visitor const& visit) override { to_.each_holder(of, visit); }
    void each_waiter(record& of, visitor const& visit) override { to_.each_waiter(of, visit); }

    seam::sequence next_sequence() override { return to_.next_sequence(); }
    stores::lease::ballot_memory* ballots() override { return to_.ballots(); }
    void put_tombstone(seam::claim_id id, seam::store_time until) override {
        to_.put_tombstone(id, until);
    }
    bool has_tombstone(seam::claim_id id, seam::store_time now) override {
        return to_.has_tombstone(id, now);
    }

    cell_record* find_cell(seam::cell_key const& key) override { return to_.find_cell(key); }
    void put_cell(seam::cell_key const& key, cell_record value) override {
        to_.put_cell(key, std::move(value));
    }
    void erase_cell(seam::cell_key const& key) override { to_.erase_cell(key); }
    void purge_cells(record& of, seam::store_time now) override { to_.purge_cells(of, now); }

    void watch(seam::client_id client, seam::cell_key const& key, bool on) override {
        to_.watch(client, key, on);
    }
    bool watched() override { return to_.watched(); }
    void each_watcher(seam::cell_key const& key,
                      std::function<void(seam::client_id)> const& visit) override {
        to_.each_watcher(key, visit);
    }
    std::vector<std::string> names(std::string_view prefix, std::string_view after,
                                   std::size_t most) override {
        return to_.names(prefix, after, most);
    }
    std::vector<std::string> waited_names(std::string_view after, std::size_t most) override {
        return to_.waited_names(after, most);
    }

protected:
    ledger& to_;
};

}  // namespace holdfast::simulation
