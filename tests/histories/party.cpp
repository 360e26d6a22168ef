#include "histories/party.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <holdfast/error.hpp>

namespace holdfast::histories {

namespace {

/// Waits for at most `span`; less when a stop is requested.
void pause(std::stop_token const& stop, std::chrono::milliseconds span) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock{mutex};
    (void)never.wait_for(lock, stop, span, [] { return false; });
}

}  // namespace

party::party(surroundings const& around, identity who)
    : around_{around},
      record_{around.to, who},
      random_{around.seed, std::uint64_t{who.incarnation} << 32 |
                               static_cast<std::uint64_t>(who.worker) << 16 |
                               static_cast<std::uint64_t>(who.party)} {
    around.to.enlist(static_cast<std::size_t>(who.party));
    record_.append(kind::party_began);
}

void party::run(std::stop_token stop) {
    stop_ = std::move(stop);
    while (!stopping()) {
        try {
            step();
        } catch (std::system_error const& error) {
            if (!is_expected(error.code())) complain(error);
            rest(5ms, 50ms);
        } catch (std::exception const& error) {
            complain(error);
            rest(5ms, 50ms);
        }
    }
    record_.append(kind::party_ended);
}

void party::rest(std::chrono::milliseconds least, std::chrono::milliseconds most) {
    pause(stop_, random_.between(least, most));
}

void party::complain(std::exception const& error) {
    record_.append(kind::party_failed, error.what());
}

visit party::begin(std::vector<std::string> names, mode how, std::int64_t permits) {
    return {record_, around_.files, around_.plan, std::move(names), how, permits};
}

lock_options party::random_options() {
    constexpr std::array<std::chrono::milliseconds, 5> leases{250ms, 400ms, 800ms, 1500ms,
                                                              longest_lease};
    lock_options out;
    out.lease = random_.one_of(leases);
    out.renew = !random_.once_in(8);
    out.order =
        random_.once_in(3) && around_.plan.crew != crew::locks ? ordering::fair : ordering::barging;
    if (random_.once_in(4)) out.local_passes = static_cast<int>(random_.below(4));
    return out;
}

bool is_expected(std::error_code const& code) {
    return code == errc::store_unavailable || code == errc::lost || code == errc::broken_barrier;
}

canceller::canceller(std::chrono::milliseconds delay)
    : thread_{[delay, source = source_](std::stop_token end) mutable {
          pause(end, delay);
          if (!end.stop_requested()) source.request_stop();
      }} {}

}  // namespace holdfast::histories
