// Lock and unlock as the Redis store sends them, made by its own layout ahead of time.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

#include "redis_wire.hpp"
#include "seam/store.hpp"
#include "stores/redis/native_layout.hpp"
#include "stores/redis/scripts.hpp"

namespace bench {

/// The two calls for one name: EVALSHA with as many and as long arguments as those of a client.
struct pair_of_calls {
    std::string lock;
    std::string unlock;
};

class caller {
public:
    explicit caller(std::uint64_t client = 0x1234'5678'9abc'def0)
        : self_{.id = holdfast::seam::client_id{client},
                .host = host(),
                .pid = ::getpid(),
                .label = ""} {}

    [[nodiscard]] pair_of_calls calls(std::string name,
                                      holdfast::ordering order = holdfast::ordering::barging) {
        auto spec = std::make_shared<holdfast::seam::claim_spec>();
        spec->name = std::move(name);
        spec->order = order;
        holdfast::seam::claim const wanted{
            std::move(spec), {self_.id, ++last_}, holdfast::seam::actor_id{1}};
        // A client gives up a submit some time from now; a moment far away has as many digits.
        auto const far =
            holdfast::seam::store_time{std::chrono::microseconds{9'000'000'000'000'000}};
        return {bytes(holdfast::seam::submit{{wanted}, true, far}),
                bytes(holdfast::seam::settle{{wanted}})};
    }

    /// Where a client is told that it holds.
    [[nodiscard]] std::string channel() const { return layout_.channel(); }

    static void load(wire& to) {
        to.load(holdfast::stores::redis::scripts::submit);
        to.load(holdfast::stores::redis::scripts::settle);
    }

private:
    [[nodiscard]] std::string bytes(holdfast::seam::request what) const {
        return std::string{layout_.begin(std::move(what))->outbox.front().bytes()};
    }

    static std::string host() {
        char name[256]{};
        ::gethostname(name, sizeof name - 1);
        return name;
    }

    holdfast::seam::identity self_;
    holdfast::stores::redis::native_layout layout_{"hf-bench:", self_};
    std::uint64_t last_{0};
};

}  // namespace bench
