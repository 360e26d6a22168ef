// redis: a store for many machines, in Redis or Valkey: one server, one of several that sentinels watch, or a cluster.
#include <memory>
#include <new>
#include <utility>

#include "stores/redis/link.hpp"
#include "stores/redis/settings.hpp"

namespace holdfast::stores::redis {

namespace {

class store final : public seam::store {
public:
    explicit store(seam::store_context context)
        : link_{settings::parse(context.url), context.self, context.sink, std::move(context.log)} {}

    seam::capabilities abilities() const override { return link_.abilities(); }
    seam::lane_id lane_of(std::string_view name) const noexcept override {
        return link_.lane_of(name);
    }

    std::optional<seam::reply> send(seam::request_id id, seam::request what) noexcept override try {
        return link_.send(id, std::move(what));
    } catch (std::bad_alloc const&) {
        return seam::reply{{}, seam::failure{{errc::store_unavailable, "no memory is left"}}};
    }

    void drive(base::instant until) override { link_.drive(until); }
    void flush() noexcept override { link_.flush(); }
    void interrupt() noexcept override { link_.interrupt(); }
    int descriptor() noexcept override { return link_.descriptor(); }
    void shut() noexcept override { link_.shut(); }
    void abandon_in_child() noexcept override { link_.abandon(); }

private:
    link link_;
};

std::unique_ptr<seam::store> make(seam::store_context context) {
    return std::make_unique<store>(std::move(context));
}

}  // namespace

}  // namespace holdfast::stores::redis

extern "C" [[gnu::visibility("default")]] holdfast::seam::store_module const*
holdfast_store_redis_v1() {
    static constexpr holdfast::seam::store_module exported{&holdfast::stores::redis::make};
    return &exported;
}
