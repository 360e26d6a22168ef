// One thing at a time is put and taken under a mutex. A producer puts only where nothing is, so a notice
// that is lost is not covered up by the next one: consumers would sleep beside the thing.
#include <mutex>
#include <utility>

#include <boost/asio/use_future.hpp>

#include <holdfast/asio.hpp>

#include "histories/party.hpp"

namespace holdfast::histories {

namespace {

lock_options const terms{.lease = 1500ms};

class condition_party : public party {
public:
    condition_party(surroundings const& around, identity who)
        : party{around, who},
          mutex_{around.client, condition_name, terms},
          changed_{around.client, condition_name} {}

protected:
    /// Locks and reads what is there; nothing when the mutex was busy or the hold was lost.
    [[nodiscard]] bool enter(visit& hold, std::unique_lock<mutex>& lock) {
        hold.asked();
        try {
            if (!lock.try_lock_for(5s)) {
                hold.refused("busy");
                return false;
            }
        } catch (std::exception const& error) {
            hold.refused(error.what());
            throw;
        }
        return begin_use(hold);
    }

    [[nodiscard]] bool begin_use(visit& hold) {
        hold.granted([this](std::string const&) { return mutex_.token(); });
        return hold.enter(hold_view::of(mutex_));
    }

    void give_back(visit& hold, std::unique_lock<mutex>& lock) {
        if (!lock.owns_lock()) return;
        hold.releasing(hold_view::of(mutex_));
        lock.unlock();
        hold.released(outcome::none);
    }

    void tell(kind what, std::uint64_t call, instant before, instant after) {
        event one;
        one.kind = what;
        one.call = call;
        one.before = before;
        one.after = after;
        one.set_name(condition_name);
        record_.append(one);
        if (what != kind::waiting) record_.advance();
    }

    [[nodiscard]] visit new_visit() { return begin({std::string{condition_name}}); }

    mutex mutex_;
    condition_variable changed_;
};

class producer final : public condition_party {
public:
    using condition_party::condition_party;

    void run(std::stop_token stop) override {
        party::run(stop);
        notify(true);  // consumers that wait are to end as well
    }

private:
    void step() override {
        rest(0ms, 60ms);
        // One that died before may have put something and told nobody.
        if (!std::exchange(began_, true)) notify(true);
        auto hold = new_visit();
        std::unique_lock lock{mutex_, std::defer_lock};
        bool const put = enter(hold, lock) && hold.value() == 0 && hold.write(1);
        if (put && random_.once_in(2))
            notify(false);
        else if (put)
            owed_ = true;
        give_back(hold, lock);
        if (std::exchange(owed_, false)) notify(false);
    }

    /// Until the store has done so: a thing that was put must be told of.
    void notify(bool all) {
        for (;;) {
            auto const before = boot_time();
            try {
                if (around_.asio)
                    async_notify(all);
                else if (all)
                    changed_.notify_all();
                else
                    changed_.notify_one();
                return tell(kind::notified, 0, before, boot_time());
            } catch (std::system_error const& error) {
                if (!is_expected(error.code())) throw;
                rest(5ms, 50ms);
                all = true;  // whether the first one was heard is unknown
            }
        }
    }

    void async_notify(bool all) {
        using boost::asio::use_future;
        if (all)
            async_notify_all(changed_, use_future).get();
        else
            async_notify_one(changed_, use_future).get();
    }

    bool began_{false};
    bool owed_{false};
};

class consumer final : public condition_party {
public:
    using condition_party::condition_party;

private:
    void step() override {
        auto hold = new_visit();
        std::unique_lock lock{mutex_, std::defer_lock};
        if (enter(hold, lock)) {
            if (hold.value() > 0) {
                (void)hold.write(hold.value() - 1);
            } else if (!stopping()) {
                return wait(hold, lock);
            }
        }
        give_back(hold, lock);
    }

    void wait(visit& hold, std::unique_lock<mutex>& lock) {
        auto const call = record_.new_call();
        hold.releasing(hold_view::of(mutex_));
        auto again = new_visit();
        again.asked();
        auto const before = boot_time();
        tell(kind::waiting, call, before, 0);
        try {
            (void)changed_.wait_for(lock, 8s);
        } catch (std::exception const&) {
            tell(kind::woke, call, before, boot_time());
            again.refused("the wait failed");
            if (lock.owns_lock()) lock.unlock();
            throw;
        }
        tell(kind::woke, call, before, boot_time());
        if (begin_use(again) && again.value() > 0) (void)again.write(again.value() - 1);
        give_back(again, lock);
    }
};

}  // namespace

std::unique_ptr<party> make_producer(surroundings const& around, identity who) {
    return std::make_unique<producer>(around, who);
}

std::unique_ptr<party> make_consumer(surroundings const& around, identity who) {
    if (around.asio) return make_asio_consumer(around, who);
    return std::make_unique<consumer>(around, who);
}

}  // namespace holdfast::histories
