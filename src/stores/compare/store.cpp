#include "stores/compare/store.hpp"

#include <algorithm>
#include <utility>

#include "base/mutex.hpp"
#include "base/random.hpp"
#include "stores/compare/machine.hpp"

namespace holdfast::stores::compare {

namespace {

// Sequences of such a store are its revisions, which nobody else can choose.
constexpr char const* no_ballots = "a store of this kind cannot be a member of a quorum";

/// The machine behind a lock, between the seam and a driver.
class store final : public seam::store, private driver_events {
public:
    store(seam::store_context context, driver_maker const& make)
        : sink_{context.sink},
          driver_{make(*this)},
          takes_ballots_{driver_->traits().ballots},
          machine_{*driver_, environment_of(std::move(context))} {}

    seam::capabilities abilities() const override {
        return {.line = true, .prompt = true, .per_claim_lease = false};
    }

    std::optional<seam::reply> send(seam::request_id id, seam::request what) noexcept override try {
        if (auto const* const wanted = std::get_if<seam::submit>(&what);
            wanted != nullptr && wanted->ballot != seam::sequence{} && !takes_ballots_)
            return seam::reply{.body = seam::failure{{errc::unsupported, no_ballots}}};
        std::optional<seam::reply> out;
        bool others = false;
        {
            base::lock_guard const lock{mutex_};
            machine_.take(id, what);
            gather();
            auto& replies = results_.replies;
            auto const mine =
                std::ranges::find(replies, id, [](auto const& each) { return each.first; });
            if (mine != replies.end()) {
                out = std::move(mine->second);
                replies.erase(mine);
            }
            others = !replies.empty() || !results_.notices.empty() ||
                     machine_.next_time() < driven_until_;
        }
        if (others) driver_->interrupt();
        return out;
    } catch (std::exception const& trouble) {
        return seam::reply{.body = seam::failure{{errc::store_unavailable, trouble.what()}}};
    }

    void drive(base::instant until) override {
        deliver();
        {
            base::lock_guard const lock{mutex_};
            until = driven_until_ = std::min(until, machine_.next_time());
        }
        driver_->drive(until);
        base::instant next;
        {
            base::lock_guard const lock{mutex_};
            driven_until_ = base::never;
            machine_.on_time();
            gather();
            next = machine_.next_time();
        }
        driver_->wake_by(next);
        deliver();
    }

    void interrupt() noexcept override { driver_->interrupt(); }
    int descriptor() noexcept override { return driver_->descriptor(); }
    void abandon_in_child() noexcept override { driver_->abandon_in_child(); }

    void shut() noexcept override {
        {
            base::lock_guard const lock{mutex_};
            machine_.close();
        }
        driver_->shut();
    }

private:
    static environment environment_of(seam::store_context context) {
        return {.self = std::make_shared<seam::identity>(std::move(context.self)),
                .clocks = {.boot = [] { return base::boot_clock::now(); },
                           .wall = [] { return base::wall_microseconds(); }},
                .entropy = [] { return base::entropy(); },
                .log = std::move(context.log)};
    }

    template <class Event>
    void happen(Event&& event) {
        {
            base::lock_guard const lock{mutex_};
            event(machine_);
            gather();
        }
        deliver();
    }

    void on_outcome(ticket which, outcome what, reading when) override {
        happen([&](machine& on) { on.on_outcome(which, std::move(what), when); });
    }
    void on_letter(session_id to, std::string body, stamp written) override {
        happen([&](machine& on) { on.on_letter(to, body, written); });
    }
    void on_gap() override {
        happen([](machine& on) { on.on_gap(); });
    }
    void on_doubt(std::string why) override {
        happen([&](machine& on) { on.on_doubt(std::move(why)); });
    }
    void on_changed(name_key key) override {
        happen([&](machine& on) { on.on_changed(key); });
    }
    void on_session_end(session_id which) override {
        happen([&](machine& on) { on.on_session_end(which); });
    }

    void gather() HOLDFAST_REQUIRES(mutex_) {
        auto made = machine_.take_results();
        std::ranges::move(made.replies, std::back_inserter(results_.replies));
        std::ranges::move(made.notices, std::back_inserter(results_.notices));
    }

    // By the thread that drives, with no lock held.
    void deliver() {
        results ready;
        {
            base::lock_guard const lock{mutex_};
            ready = std::exchange(results_, {});
        }
        for (auto& [id, reply] : ready.replies)
            sink_.on_reply(id, std::move(reply));
        for (auto& notice : ready.notices)
            sink_.on_notice(std::move(notice));
    }

    seam::event_sink& sink_;
    base::mutex mutex_;
    std::unique_ptr<driver> driver_;
    bool const takes_ballots_;
    machine machine_ HOLDFAST_GUARDED_BY(mutex_);
    results results_ HOLDFAST_GUARDED_BY(mutex_);
    base::instant driven_until_ HOLDFAST_GUARDED_BY(mutex_){base::never};
};

}  // namespace

std::unique_ptr<seam::store> make_store(seam::store_context context, driver_maker const& make) {
    return std::make_unique<store>(std::move(context), make);
}

}  // namespace holdfast::stores::compare
