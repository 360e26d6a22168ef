// memory: the store inside this process, and the executable specification of the seam.
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "stores/memory/module.hpp"
#include "stores/memory/shared_state.hpp"

namespace holdfast::stores::memory {

namespace {

// `lease` is the core's affair; it is listed so that it is not taken for a misprint.
constexpr std::array<std::string_view, 1> known_options{"lease"};

class store final : public seam::store {
public:
    store(seam::store_context context)
        : self_{std::make_shared<seam::identity>(std::move(context.self))},
          sink_{context.sink},
          shared_{shared_state::named(context.url.path)} {
        shared_->join(self_->id, box_);
    }

    ~store() override { shut(); }

    seam::capabilities abilities() const override { return {.instant = true, .parks = true}; }

    std::optional<seam::reply> send(seam::request_id, seam::request what) noexcept override {
        return shared_->handle(self_, what);
    }

    void drive(base::instant until) override {
        for (auto& notice : box_->wait(until))
            sink_.on_notice(std::move(notice));
    }

    void interrupt() noexcept override { box_->interrupt(); }
    int descriptor() noexcept override { return box_->descriptor(); }

    void shut() noexcept override { shared_->leave(self_->id); }

private:
    std::shared_ptr<seam::identity const> self_;
    seam::event_sink& sink_;
    std::shared_ptr<shared_state> shared_;
    std::shared_ptr<mailbox> box_ = std::make_shared<mailbox>();
};

std::unique_ptr<seam::store> make(seam::store_context context) {
    if (context.url.has_authority)
        base::raise(errc::bad_url, "a memory store is written memory: or memory:NAME");
    context.url.require_known_options(known_options);
    return std::make_unique<store>(std::move(context));
}

}  // namespace

seam::store_module const& module() noexcept {
    static constexpr seam::store_module exported{&make};
    return exported;
}

}  // namespace holdfast::stores::memory
