// What a connection says and asks before anything else may be sent, and what it learns by that of its server.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "stores/redis/answer.hpp"
#include "stores/redis/question.hpp"
#include "stores/redis/settings.hpp"

namespace holdfast::stores::redis {

/// The server does not let us do what we are here for.
struct unwelcome {
    base::error why;
};

/// Thread-safety: none; it belongs to its connection.
class greeting {
public:
    struct part {
        command what;
        question::purpose meaning;
    };

    /// `name`: that the server shows for the connection.
    explicit greeting(std::string name) : name_{std::move(name)} {}

    /// See connection::vet.
    void vet(bool calls_scripts) noexcept {
        vets_ = true;
        calls_scripts_ = calls_scripts;
    }

    /// Who we are, and which database: nothing may be sent before the server has agreed to both.
    [[nodiscard]] std::vector<part> begin(settings const& to);
    /// Whether all that has to be answered first was.
    [[nodiscard]] bool is_over() const noexcept { return unanswered_ == 0; }
    /// The answer to a part. True when nothing else has to be waited for. Throws `unwelcome` or `garbled`.
    [[nodiscard]] bool take(question::purpose meaning, answer const& what, settings const& of);
    /// The connection has ended.
    void forget() noexcept;

    /// See connection::clock.
    [[nodiscard]] seam::clock_id clock() const noexcept { return clock_; }
    [[nodiscard]] bool clock_is_shared() const noexcept { return clock_is_shared_; }

private:
    std::string name_;
    bool vets_{false};
    bool calls_scripts_{false};
    int unanswered_{0};  ///< of those that are essential
    seam::clock_id clock_{};
    bool clock_is_shared_{false};
};

}  // namespace holdfast::stores::redis
