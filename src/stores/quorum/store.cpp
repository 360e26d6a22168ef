// quorum+redis, quorum+postgres, quorum+mysql: a lock over independent servers, of which a majority has to agree.
#include "seam/store.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <sys/epoll.h>

#include "base/error.hpp"
#include "base/mutex.hpp"
#include "base/random.hpp"
#include "net/poller.hpp"
#include "stores/quorum/machine.hpp"
#include "stores/quorum/settings.hpp"

namespace holdfast::stores::quorum {

namespace {

judgement const usual_judgement;

// Members are waited for when the client is closed, all in all.
constexpr std::chrono::milliseconds longest_farewell{500};

/// The machine behind a lock, between the seam and the members. One thread drives all members: it waits for their
/// descriptors together.
class store final : public seam::store {
public:
    explicit store(seam::store_context context) : store{settings::parse(context.url), context} {}

    seam::capabilities abilities() const override {
        return {.line = false,
                .prompt = prompt_,
                .per_claim_lease = per_claim_lease_,
                .longest_lease = longest_lease_};
    }

    std::optional<seam::reply> send(seam::request_id id, seam::request what) noexcept override try {
        {
            base::lock_guard const lock{mutex_};
            machine_.take(id, what, base::boot_clock::now());
        }
        send_out();
        std::optional<seam::reply> out;
        bool others = false;
        {
            base::lock_guard const lock{mutex_};
            gather();
            auto& replies = ready_.replies;
            auto const mine =
                std::ranges::find(replies, id, [](auto const& each) { return each.first; });
            if (mine != replies.end()) {
                out = std::move(mine->second);
                replies.erase(mine);
            }
            others = !ready_.empty() || machine_.next_time() < driven_until_;
        }
        if (others) poller_.wake();
        return out;
    } catch (std::exception const& trouble) {
        return seam::reply{.body = seam::failure{{errc::store_unavailable, trouble.what()}}};
    }

    void drive(base::instant until) override {
        for (bool looked = false;; looked = true) {
            poller_.forget_wakes();
            catch_up();
            tend();
            if (deliver() || interrupted_.exchange(false) || shut_) return;
            if (looked && base::boot_clock::now() >= until) return;
            base::instant next;
            bool soon = false;
            {
                base::lock_guard const lock{mutex_};
                next = driven_until_ = std::min(until, machine_.next_time());
                soon = machine_.expects_answers_soon();
            }
            (void)drive_members(next, soon);
            base::lock_guard const lock{mutex_};
            driven_until_ = base::instant::min();
        }
    }

    void flush() noexcept override {
        for (auto const& each : members_)
            each->inner->flush();
    }

    void interrupt() noexcept override {
        interrupted_ = true;
        poller_.wake();
    }
    int descriptor() noexcept override { return poller_.descriptor(); }

    void shut() noexcept override {
        if (shut_.exchange(true)) return;
        if (!abandoned_) say_farewell();
        for (auto const& each : members_)
            each->inner->shut();
    }
    void abandon_in_child() noexcept override {
        abandoned_ = true;
        for (auto const& each : members_)
            each->inner->abandon_in_child();
    }

private:
    /// A member, and what it tells.
    struct member_store final : seam::event_sink {
        member_store(store& owner, std::size_t which) : home{owner}, place{which} {}
        void on_reply(seam::request_id id, seam::reply answer) override {
            base::lock_guard const lock{home.mutex_};
            home.machine_.on_reply(place, id, answer, base::boot_clock::now());
        }
        void on_notice(seam::notice what) override {
            base::lock_guard const lock{home.mutex_};
            home.machine_.on_notice(place, what, base::boot_clock::now());
        }

        store& home;
        std::size_t place;
        std::unique_ptr<seam::store> inner;
        net::poller::registration watched;  ///< ends before the store whose descriptor it is
    };

    store(settings wanted, seam::store_context& context)
        : sink_{context.sink},
          longest_lease_{wanted.longest_lease},
          machine_{{.agreed = agreement::on(wanted.addresses, wanted.longest_lease),
                    .addresses = wanted.addresses,
                    .self = context.self.id,
                    .seed = base::entropy(),
                    .judge = &usual_judgement}} {
        for (auto& url : wanted.members) {
            auto& made =
                *members_.emplace_back(std::make_unique<member_store>(*this, members_.size()));
            made.inner = context.open(std::move(url), made);
            auto const descriptor = made.inner->descriptor();
            if (descriptor < 0)
                base::raise(errc::unsupported,
                            "a store of this kind cannot be a member of a quorum");
            made.watched = poller_.add(descriptor, EPOLLIN, made.place);
            auto const can = made.inner->abilities();
            prompt_ = prompt_ && (can.prompt || can.instant);
            per_claim_lease_ = per_claim_lease_ && can.per_claim_lease;
            if (!can.per_claim_lease) machine_.expect_sessions(made.place);
        }
    }

    /// Whether any member had something to tell.
    bool drive_members(base::instant until, bool soon = false) {
        auto const ready = poller_.wait(until, soon);
        for (auto const& each : ready)
            members_[each.about]->inner->drive(base::boot_clock::now());
        return !ready.empty();
    }

    // A client that has had no processor for a while finds both its deadlines and the answers: these are read before
    // anybody is called silent, or it would do everything again, and have less time still.
    void catch_up() {
        constexpr int most = 1000;
        for (int i = 0; i < most && is_late(); ++i)
            if (!drive_members(base::boot_clock::now())) return;
    }
    [[nodiscard]] bool is_late() {
        base::lock_guard const lock{mutex_};
        return machine_.next_time() <= base::boot_clock::now();
    }

    // Whoever gave something back was answered by a majority. At the other members it may still wait, for a connection
    // or behind other requests, and would end there by its lease only. Nobody is told of anything any more. A member that
    // says nothing for as long as it is usually given is not waited for.
    void say_farewell() noexcept try {
        auto const end = base::boot_clock::now() + longest_farewell;
        auto give_up = end;
        for (std::size_t before = 0;;) {
            poller_.forget_wakes();
            tend();
            base::instant next;
            {
                base::lock_guard const lock{mutex_};
                (void)machine_.take_results();
                auto const unheard = machine_.ends_under_way();
                auto const now = base::boot_clock::now();
                if (std::exchange(before, unheard.count) != unheard.count)
                    give_up = std::min(end, now + unheard.patience);
                if (unheard.count == 0 || now >= give_up) return;
                next = std::min(give_up, machine_.next_time());
            }
            (void)drive_members(next);
        }
    } catch (std::exception const&) {
        // Leases end what is left.
    }

    // What is due by now, and what comes of it.
    void tend() {
        {
            base::lock_guard const lock{mutex_};
            machine_.on_time(base::boot_clock::now());
        }
        send_out();
    }

    // One thread at a time, so that the members get requests in their order.
    void send_out() {
        base::lock_guard const order{sending_};
        for (;;) {
            std::vector<outgoing> requests;
            {
                base::lock_guard const lock{mutex_};
                requests = machine_.take_outgoing();
            }
            if (requests.empty()) return;
            for (auto& each : requests) {
                auto answer = members_[each.member]->inner->send(each.id, std::move(each.what));
                if (!answer) continue;
                base::lock_guard const lock{mutex_};
                machine_.on_reply(each.member, each.id, *answer, base::boot_clock::now());
            }
        }
    }

    void gather() HOLDFAST_REQUIRES(mutex_) {
        auto fresh = machine_.take_results();
        std::ranges::move(fresh.replies, std::back_inserter(ready_.replies));
        std::ranges::move(fresh.notices, std::back_inserter(ready_.notices));
    }

    bool deliver() {
        results out;
        {
            base::lock_guard const lock{mutex_};
            gather();
            out = std::exchange(ready_, {});
        }
        for (auto& [id, answer] : out.replies)
            sink_.on_reply(id, std::move(answer));
        for (auto& each : out.notices)
            sink_.on_notice(std::move(each));
        if (!out.empty()) interrupted_ = false;  // this is the return
        return !out.empty();
    }

    seam::event_sink& sink_;
    std::chrono::milliseconds const longest_lease_;
    net::poller poller_;
    base::mutex sending_;  ///< taken before the other
    base::mutex mutex_;    ///< guards what follows
    machine machine_ HOLDFAST_GUARDED_BY(mutex_);
    results ready_ HOLDFAST_GUARDED_BY(mutex_);
    /// The driver waits so long, unless it is woken; it looks by itself before it does.
    base::instant driven_until_ HOLDFAST_GUARDED_BY(mutex_){base::instant::min()};
    std::atomic<bool> interrupted_{false};
    std::atomic<bool> shut_{false};
    std::atomic<bool> abandoned_{false};
    bool prompt_{true};           ///< as all members are
    bool per_claim_lease_{true};  ///< as all members have it
    std::vector<std::unique_ptr<member_store>> members_;
};

std::unique_ptr<seam::store> make(seam::store_context context) {
    return std::make_unique<store>(std::move(context));
}

// What has to be made beforehand is the affair of each member.
std::string schema_of(base::url const& url) {
    auto const wanted = settings::parse(url);
    base::raise(errc::unsupported,
                "a quorum has no schema of its own: ask for that of one of its members, " +
                    wanted.members.front().scheme + "://" + wanted.addresses.front() +
                    ", and give it to all of them");
}

}  // namespace

}  // namespace holdfast::stores::quorum

extern "C" [[gnu::visibility("default")]] holdfast::seam::store_module const*
holdfast_store_quorum_v1() {
    static constexpr holdfast::seam::store_module exported{&holdfast::stores::quorum::make,
                                                           &holdfast::stores::quorum::schema_of};
    return &exported;
}
