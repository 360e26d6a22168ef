// file: a store for the processes of one machine, in one SQLite file.
#include <atomic>
#include <memory>
#include <utility>

#include "stores/file/lookout.hpp"
#include "stores/file/settings.hpp"
#include "stores/file/space.hpp"

namespace holdfast::stores::file {

namespace {

class store final : public seam::store {
public:
    explicit store(seam::store_context context)
        : sink_{context.sink},
          space_{settings::parse(context.url), std::move(context.self), std::move(context.log),
                 lookout_} {}

    // Answers on the calling thread, but only after other writers and perhaps the disk.
    seam::capabilities abilities() const override { return {.instant = false}; }

    std::optional<seam::reply> send(seam::request_id, seam::request what) noexcept override {
        return space_.handle(what);
    }

    void drive(base::instant until) override {
        if (space_.abandoned()) return;
        do {
            if (deliver()) return;
            if (!owing()) merge(lookout_.wait(std::min(until, space_.next_look())));
            if (owing() || base::boot_clock::now() >= space_.next_look()) {
                if (space_.look(owed_)) {
                    owed_ = {};
                } else {
                    // Another thread is in a transaction; it calls the lookout when it is done.
                    merge(lookout_.wait(until));
                }
            }
            if (deliver()) return;
        } while (!interrupted_.exchange(false) && base::boot_clock::now() < until);
    }

    void interrupt() noexcept override {
        if (space_.abandoned()) return;  // the parent's driver would be called
        interrupted_ = true;
        lookout_.call();
    }

    void shut() noexcept override { space_.leave(); }
    void abandon_in_child() noexcept override { space_.abandon(); }

private:
    bool deliver() {
        auto const notices = space_.take();
        for (auto const& it : notices)
            sink_.on_notice(it);
        return !notices.empty();
    }

    [[nodiscard]] bool owing() const noexcept { return owed_.rung || !owed_.exited.empty(); }

    void merge(lookout::news news) {
        owed_.rung = owed_.rung || news.rung;
        owed_.exited.insert(owed_.exited.end(), news.exited.begin(), news.exited.end());
    }

    seam::event_sink& sink_;
    lookout lookout_;
    space space_;
    std::atomic<bool> interrupted_{false};
    lookout::news owed_;  ///< reported, but not yet followed up; the driver's
};

std::unique_ptr<seam::store> make(seam::store_context context) {
    return std::make_unique<store>(std::move(context));
}

}  // namespace

}  // namespace holdfast::stores::file

extern "C" [[gnu::visibility("default")]] holdfast::seam::store_module const*
holdfast_store_file_v1() {
    static constexpr holdfast::seam::store_module it{&holdfast::stores::file::make};
    return &it;
}
