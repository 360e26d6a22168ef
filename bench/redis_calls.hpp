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
        auto const wanted = claim_on(std::move(name), order);
        return {bytes(holdfast::seam::submit{{wanted}, true, far}),
                bytes(holdfast::seam::settle{{wanted}})};
    }

    /// The same as a quorum asks for them. A ballot has to be above the last one of its name.
    [[nodiscard]] pair_of_calls ballot_calls(std::string name, std::uint64_t ballot) {
        auto const wanted = claim_on(std::move(name), holdfast::ordering::barging);
        return {
            bytes(holdfast::seam::submit{
                .subject = wanted, .not_after = far, .ballot = holdfast::seam::sequence{ballot}}),
            bytes(holdfast::seam::settle{{wanted}})};
    }

    /// Where a client is told that it holds.
    [[nodiscard]] std::string channel() const { return layout_.channel(); }

    static void load(wire& to) {
        (void)to.load(holdfast::stores::redis::scripts::submit);
        (void)to.load(holdfast::stores::redis::scripts::settle);
    }

private:
    // A client gives up a submit some time from now; a moment far away has as many digits.
    static constexpr holdfast::seam::store_time far{
        std::chrono::microseconds{9'000'000'000'000'000}};

    [[nodiscard]] holdfast::seam::claim claim_on(std::string name, holdfast::ordering order) {
        auto spec = std::make_shared<holdfast::seam::claim_spec>();
        spec->name = std::move(name);
        spec->order = order;
        return {std::move(spec), {self_.id, ++last_}, holdfast::seam::actor_id{1}};
    }

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
