// Requests that a server sent away for now, and what was asked for the same names since.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"
#include "stores/redis/question.hpp"

namespace holdfast::stores::redis {

/// Those of one name wait for the same moment and are sent again together, in the order in which they were asked: only
/// so is none of them overtaken here. Names are told apart by their hash.
///
/// Thread-safety: none; its owner serialises.
class postponed_requests {
public:
    struct request {
        question what;
        std::string words;  ///< of who sent it away
    };

    /// To be sent again at `due`, unless others of its name that came before it wait for another moment; earlier where
    /// the time ends for which it may be sent away.
    void add(question what, base::instant due, std::string words);

    /// Takes a request of whose name another waits that was asked before it; true when it has.
    bool keep_behind(question& what);

    /// Gives away what is due, one by one. Meanwhile others may be added.
    template <class Callable>
    void take_due(base::instant now, Callable take) {
        if (now < next_due_) return;
        for (auto same = groups_.begin(); same != groups_.end();) {
            while (!same->requests.empty() && same->due <= now) {
                auto first = std::move(same->requests.front());
                same->requests.pop_front();
                take(std::move(first));
            }
            same = same->requests.empty() ? remove(same) : std::next(same);
        }
        next_due_ = base::never;
        for (auto const& each : groups_)
            next_due_ = std::min(next_due_, each.due);
    }
    /// May be too early, once.
    [[nodiscard]] base::instant next_due() const noexcept { return next_due_; }

    void clear() noexcept;

private:
    struct group {
        std::optional<std::size_t> name{};  ///< nothing for one that has no order to keep
        base::instant due{};
        std::deque<request> requests{};  ///< of one name, in the order of their turns
    };
    using groups = std::list<group>;

    void insert(group& into, request what);
    groups::iterator remove(groups::iterator which);

    groups groups_;
    std::unordered_map<std::size_t, groups::iterator> named_;
    base::instant next_due_{base::never};
};

}  // namespace holdfast::stores::redis
