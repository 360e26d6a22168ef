// A heap of pointers whose elements know their place, so that one can be moved or taken out.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace holdfast::base {

/// Where an element stands in its heap. Embedded in the element.
struct heap_place {
    static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
    std::size_t index{nowhere};

    [[nodiscard]] bool placed() const noexcept { return index != nowhere; }
};

/// A four-ary heap, smallest key first. `Traits` has `key(T const&)` and `place(T&)`.
/// Ownership: none; elements outlive their stay.
template <class T, class Traits>
class indexed_heap {
public:
    [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
    [[nodiscard]] T* top() const noexcept { return items_.empty() ? nullptr : items_.front(); }
    [[nodiscard]] std::vector<T*> const& items() const noexcept { return items_; }

    /// Puts the element in, or to its right place after its key changed.
    void place(T& item) {
        auto& at = Traits::place(item).index;
        if (at == heap_place::nowhere) {
            at = items_.size();
            items_.push_back(&item);
        }
        if (!sift_up(at)) sift_down(at);
    }

    /// Takes the element out; nothing happens when it is not in.
    void remove(T& item) noexcept {
        auto& place = Traits::place(item).index;
        if (place == heap_place::nowhere) return;
        auto const hole = std::exchange(place, heap_place::nowhere);
        T* const last = items_.back();
        items_.pop_back();
        if (hole == items_.size()) return;
        put(hole, last);
        if (!sift_up(hole)) sift_down(hole);
    }

private:
    static constexpr std::size_t fan = 4;

    void put(std::size_t at, T* item) noexcept {
        items_[at] = item;
        Traits::place(*item).index = at;
    }

    bool sift_up(std::size_t at) noexcept {
        T* const item = items_[at];
        auto const start = at;
        while (at > 0) {
            auto const parent = (at - 1) / fan;
            if (!(Traits::key(*item) < Traits::key(*items_[parent]))) break;
            put(at, items_[parent]);
            at = parent;
        }
        put(at, item);
        return at != start;
    }

    void sift_down(std::size_t at) noexcept {
        T* const item = items_[at];
        for (;;) {
            auto const first = at * fan + 1;
            if (first >= items_.size()) break;
            auto best = first;
            for (auto i = first + 1; i < first + fan && i < items_.size(); ++i)
                if (Traits::key(*items_[i]) < Traits::key(*items_[best])) best = i;
            if (!(Traits::key(*items_[best]) < Traits::key(*item))) break;
            put(at, items_[best]);
            at = best;
        }
        put(at, item);
    }

    std::vector<T*> items_;
};

}  // namespace holdfast::base
