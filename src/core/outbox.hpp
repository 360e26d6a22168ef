// What the engine wants sent, in the order in which it is to leave.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "seam/request.hpp"

namespace holdfast::core {

/// A request to be sent; the answer comes back by `engine::on_reply` with the same id.
struct outgoing {
    seam::request_id id;
    seam::request what;
};

/// Renewals leave before everything else, so that no amount of other work loses a hold. They may: a
/// renewal belongs to claims whose submit was answered and whose settlement is not wanted yet. All
/// other requests keep their order, so that whoever lets go of a name and asks for it again is not
/// in its own way.
///
/// Thread-safety: none; it belongs to the engine.
class outbox {
public:
    void push(outgoing next) {
        auto& queue = std::holds_alternative<seam::renew>(next.what) ? renewals_ : others_;
        queue.items.push_back(std::move(next));
    }

    [[nodiscard]] bool empty() const noexcept { return renewals_.empty() && others_.empty(); }

    /// The next one. There must be one.
    [[nodiscard]] outgoing pop() {
        auto& queue = renewals_.empty() ? others_ : renewals_;
        auto next = std::move(queue.items[queue.first++]);
        queue.tidy();
        return next;
    }

    /// All of them, behind what `into` has already.
    void pop_all(std::vector<outgoing>& into) {
        renewals_.move_to(into);
        others_.move_to(into);
    }

    /// How many requests there is memory for, for tests that it does not grow.
    [[nodiscard]] std::size_t room() const noexcept {
        return renewals_.items.capacity() + others_.items.capacity();
    }

private:
    /// First in, first out. Mostly it holds one request or none, and then allocates nothing: a request is
    /// so large that a deque would allocate for each.
    struct fifo {
        std::vector<outgoing> items;
        std::size_t first{0};

        [[nodiscard]] bool empty() const noexcept { return first == items.size(); }
        void tidy() {
            if (first < items.size() && (first < 1024 || first < items.size() / 2)) return;
            items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(first));
            first = 0;
        }
        void move_to(std::vector<outgoing>& into) {
            if (into.empty() && first == 0) return items.swap(into);
            std::move(items.begin() + static_cast<std::ptrdiff_t>(first), items.end(),
                      std::back_inserter(into));
            items.clear();
            first = 0;
        }
    };

    fifo renewals_;
    fifo others_;
};

}  // namespace holdfast::core
