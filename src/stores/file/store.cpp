// file: a store for the processes of one machine, in one SQLite file.
#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "stores/file/backlog.hpp"
#include "stores/file/file_access.hpp"
#include "stores/file/file_poller.hpp"
#include "stores/file/settings.hpp"

namespace holdfast::stores::file {

namespace {

// As long as a call may be kept from its deadline, and a driver from everything else. Transactions
// last some tens of microseconds: who has the file locked for longer is stopped, or many write.
constexpr std::chrono::milliseconds a_moment{20};

class store final : public seam::store {
public:
    explicit store(seam::store_context context)
        : sink_{context.sink},
          access_{settings::parse(context.url), std::move(context.self), std::move(context.log),
                  poller_} {}

    // Answers on the calling thread, but only after other writers and perhaps the disk.
    seam::capabilities abilities() const override { return {.instant = false}; }

    // In the child of a fork it may be half changed: another thread of the parent may have been at it.
    ~store() override {
        if (access_.abandoned()) (void)backlog_.release();
    }

    // In order: a request does not overtake one that waits for the file already.
    std::optional<seam::reply> send(seam::request_id id, seam::request what) noexcept override {
        auto const give_up = access_.give_up_time(what);
        if (access_.abandoned() || backlog_->empty())
            if (auto answer = try_now(what, give_up, give_up)) return answer;
        backlog_->add({id, std::move(what), give_up});
        poller_.wake();
        return std::nullopt;
    }

    void drive(base::instant until) override {
        if (access_.abandoned()) return;
        do {
            if (deliver()) return;
            if (!owing())
                merge(poller_.wait(backlog_->empty() ? std::min(until, access_.next_look())
                                                     : base::boot_clock::now()));
            bool const replied = work_off(until);
            if (owing() || base::boot_clock::now() >= access_.next_look()) {
                if (access_.look(owed_)) {
                    owed_ = {};
                } else {
                    // Another thread is in a transaction; it wakes the poller when it is done.
                    merge(poller_.wait(until));
                }
            }
            if (deliver() || replied) return;
        } while (!interrupted_.exchange(false) && base::boot_clock::now() < until);
        poller_.wake_by(access_.next_look());
    }

    int descriptor() noexcept override { return poller_.descriptor(); }

    void interrupt() noexcept override {
        if (access_.abandoned()) return;  // the parent's driver would be called
        interrupted_ = true;
        poller_.wake();
    }

    void shut() noexcept override {
        access_.leave();
        if (!access_.abandoned()) backlog_->clear();
    }
    void abandon_in_child() noexcept override { access_.abandon(); }
    base::descriptor presence() noexcept override { return access_.share_presence(); }

private:
    std::optional<seam::reply> try_now(seam::request const& what, base::instant give_up,
                                       base::instant until) noexcept {
        auto const soon = base::boot_clock::now() + a_moment;
        return access_.handle(what, std::min({soon, give_up, until}), give_up);
    }

    // Whether there was anything to deliver.
    bool work_off(base::instant until) {
        bool any = false;
        while (auto* const next = backlog_->first()) {
            auto answer = try_now(next->what, next->give_up, until);
            if (!answer) break;
            auto const id = next->id;
            backlog_->remove_first();
            sink_.on_reply(id, *std::move(answer));
            any = true;
        }
        return any;
    }

    bool deliver() {
        auto const notices = access_.take();
        for (auto const& each : notices)
            sink_.on_notice(each);
        return !notices.empty();
    }

    [[nodiscard]] bool owing() const noexcept { return owed_.rung || !owed_.exited.empty(); }

    void merge(file_poller::news news) {
        owed_.rung = owed_.rung || news.rung;
        owed_.exited.insert(owed_.exited.end(), news.exited.begin(), news.exited.end());
    }

    seam::event_sink& sink_;
    file_poller poller_;
    file_access access_;
    std::unique_ptr<backlog> backlog_ = std::make_unique<backlog>();
    std::atomic<bool> interrupted_{false};
    file_poller::news owed_;  ///< reported, but not yet followed up; the driver's
};

std::unique_ptr<seam::store> make(seam::store_context context) {
    return std::make_unique<store>(std::move(context));
}

}  // namespace

}  // namespace holdfast::stores::file

extern "C" [[gnu::visibility("default")]] holdfast::seam::store_module const*
holdfast_store_file_v1() {
    static constexpr holdfast::seam::store_module exported{&holdfast::stores::file::make};
    return &exported;
}
