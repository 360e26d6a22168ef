// One request of the seam on its way: the commands that it takes and what comes of their answers.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include <boost/container/small_vector.hpp>

#include "seam/store.hpp"
#include "stores/redis/answer.hpp"
#include "stores/redis/command.hpp"

namespace holdfast::stores::redis {

/// What a layout makes of a request. Most need one command; a listing goes on from answer to answer.
///
/// The store sends what is in `outbox`, gives the answers back by their numbers (0, 1, … in the order
/// of sending), and asks for the reply when nothing is unanswered.
///
/// Thread-safety: none. It is begun by the thread that sends, without a lock; from its launch on it belongs to the
/// pending request and is only touched under the lock of the link.
class exchange {
public:
    exchange() = default;
    exchange(exchange const&) = delete;
    exchange& operator=(exchange const&) = delete;
    virtual ~exchange() = default;

    /// Throws `garbled`. May add to the outbox.
    virtual void on_answer(std::size_t which, answer const& what) = 0;

    /// One command failed. What it means for the others is the exchange's affair; here: all fails.
    virtual void on_failure(std::size_t /*which*/, base::error const& why) {
        if (!failed_) failed_ = why;
    }

    /// The same, where there is no connection any more.
    virtual void on_cut(std::size_t which, base::error const& why) { on_failure(which, why); }

    /// Called once, when every command was answered. Not called when one failed, unless the exchange
    /// took it otherwise.
    [[nodiscard]] virtual seam::reply finish() = 0;

    /// Its commands go to several servers, each with a clock of its own.
    [[nodiscard]] virtual bool spans_servers() const noexcept { return false; }

    [[nodiscard]] seam::reply close() {
        if (failed_) return {{}, seam::failure{std::move(*failed_)}};
        return finish();
    }

    boost::container::small_vector<command, 1> outbox;

private:
    std::optional<base::error> failed_;
};

}  // namespace holdfast::stores::redis
