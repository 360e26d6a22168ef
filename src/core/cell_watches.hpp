// What the tasks of one client watch, and how often it has changed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "core/task_scheduler.hpp"
#include "seam/request.hpp"

namespace holdfast::core {

/// One watch at the store for each key, however many tasks wait for it. Every change that is told raises
/// the mark of its key: a task reads the mark, looks at the cell, and waits until the mark is another.
///
/// Thread-safety: none; it belongs to the engine.
class cell_watches {
public:
    struct watch {
        std::uint64_t mark{0};  ///< rises with every change that is told
        bool asked{false};      ///< the store may tell them, confirmed or not
        bool confirmed{false};  ///< the store tells them
        int askers{0};          ///< tasks whose request to watch is under way
        std::vector<task_call*> waiting{};
    };

    /// The watch of the key, made where there is none. Who still counts by one that was ended meanwhile,
    /// by another user of the key, finds another mark: it would wait for news that nobody tells any more.
    watch& of(seam::cell_key const& key) {
        constexpr int room_for_changes = 24;
        auto const [found, is_new] = watches_.try_emplace(key);
        if (is_new) found->second.mark = ++made_ << room_for_changes;
        return found->second;
    }

    [[nodiscard]] std::uint64_t mark_of(seam::cell_key const& key) const {
        auto const found = watches_.find(key);
        return found == watches_.end() ? 0 : found->second.mark;
    }

    /// Whether the store is asked to tell of the key.
    [[nodiscard]] bool has(seam::cell_key const& key) const {
        auto const found = watches_.find(key);
        return found != watches_.end() && found->second.asked;
    }

    void stop_waiting(seam::cell_key const& key, task_call& call) {
        if (auto const found = watches_.find(key); found != watches_.end())
            std::erase(found->second.waiting, &call);
    }

    /// Ends the watch, unless somebody still uses it. True when the store must be told.
    [[nodiscard]] bool end(seam::cell_key const& key) {
        auto const found = watches_.find(key);
        if (found == watches_.end() || !found->second.waiting.empty()) return false;
        if (found->second.askers > 0) return false;  // whose watch would be taken back
        bool const asked = found->second.asked;
        watches_.erase(found);
        return asked;
    }

    void on_change(seam::cell_key const& key, task_scheduler& tasks) {
        auto const found = watches_.find(key);
        if (found != watches_.end()) rise(found->second, tasks);
    }

    /// Notices may have been missed, and watches forgotten: every task looks again, and asks anew.
    void on_reconnection(task_scheduler& tasks) {
        for (auto& [key, known] : watches_) {
            known.confirmed = false;
            rise(known, tasks);
        }
    }

private:
    static void rise(watch& changed, task_scheduler& tasks) {
        ++changed.mark;
        for (auto* const call : changed.waiting)
            tasks.wake(*call);
    }

    std::map<seam::cell_key, watch> watches_;
    std::uint64_t made_{0};
};

}  // namespace holdfast::core
