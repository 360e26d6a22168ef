#include <utility>

#include <holdfast/election.hpp>

#include "api/hold.hpp"
#include "api/lock_handle.hpp"
#include "api/refusals.hpp"
#include "api/synchronizers.hpp"
#include "base/error.hpp"
#include "base/mutex.hpp"
#include "core/leadership.hpp"
#include "core/task_context.hpp"

namespace holdfast {
inline namespace v1 {

using detail::no_timeout;

namespace detail {

namespace {

constexpr std::size_t longest_value = 64 * 1024;

core::terms election_terms(session const& client, std::string_view name, std::string_view value,
                           lock_options const& options) {
    if (value.size() > longest_value)
        base::raise(errc::bad_option, "the value of a candidate has at most 65536 bytes, not " +
                                          std::to_string(value.size()));
    seam::claim_spec spec{.name = checked_name(name)};
    spec.kind = lock_kind::election;
    spec.value = value;
    return core::make_terms(std::move(spec), client.with_defaults(options), client.longest_lease());
}

}  // namespace

election_handle::election_handle(std::shared_ptr<session> whose, std::string_view of,
                                 lock_options options)
    : client{std::move(whose)}, name{checked_name(of)}, options_{std::move(options)} {
    (void)election_terms(*client, name, {}, options_);  // throws what is wrong with the options
}

std::shared_ptr<core::wait_queue> election_handle::queue(std::string_view value) const {
    return std::make_shared<core::wait_queue>(
        std::make_shared<core::terms const>(election_terms(*client, name, value, options_)));
}

lease election_handle::as_lease(std::shared_ptr<core::hold_state> held) {
    auto term = std::make_shared<single_hold>(client, std::move(held));
    base::lock_guard const guard{mutex_};
    last_ = term;
    return detail::access::make_lease(std::move(term));
}

// A layout of others has locks only, and would say that nobody leads. It refuses what belongs to an election.
void election_handle::require_support(std::chrono::nanoseconds most) {
    if (supported_) return;
    seam::cell_key key{lock_kind::election, name, seam::holders_part};
    (void)client->ask(seam::read{std::move(key)}, most);
    supported_ = true;
}

std::shared_ptr<hold> election_handle::last_term() const {
    base::lock_guard const guard{mutex_};
    return last_.lock();
}

/// Runs the task that looks after the leader, and calls the observer on the notifier thread.
class election_watch final : public core::completion {
public:
    election_watch(std::shared_ptr<session> client, std::string const& name,
                   election::observer hear)
        : client_{std::move(client)},
          key_{lock_kind::election, name, seam::holders_part},
          news_{std::make_shared<news>()},
          call_{std::make_unique<core::task_call>(
              [this](core::task_context& on) {
                  return core::observe_leader(
                      on, key_.name, [news = news_](auto const& each) { tell(*news, each); });
              },
              *this)} {
        {
            base::lock_guard const guard{news_->mutex};
            news_->hear = std::move(hear);
        }
        client_->loop().begin(*call_);
    }
    ~election_watch() {
        if (!client_->at_home()) {
            (void)call_.release();  // nothing of the parent's may be touched
            return;
        }
        client_->loop().stop(*call_);  // within this call, since it only waits
        client_->loop().unwatch(key_);
        auto& told = *news_;
        base::unique_lock held{told.mutex};
        told.hear = nullptr;
        if (told.on == std::this_thread::get_id()) return;
        while (told.running)
            told.idle.wait(held);
    }
    election_watch(election_watch const&) = delete;
    election_watch& operator=(election_watch const&) = delete;

    void completed() noexcept override {}

private:
    /// Outlives the watch where a call of the observer is under way.
    struct news {
        base::mutex mutex{};
        base::condition_variable idle{};
        election::observer hear HOLDFAST_GUARDED_BY(mutex){};
        bool running HOLDFAST_GUARDED_BY(mutex){false};
        std::thread::id on HOLDFAST_GUARDED_BY(mutex){};
    };

    static void tell(news& to, std::optional<leader_info> const& leader) {
        base::unique_lock held{to.mutex};
        if (!to.hear) return;
        auto const hear = to.hear;
        to.running = true;
        to.on = std::this_thread::get_id();
        held.unlock();
        try {
            hear(leader);
        } catch (...) {  // user code: what it throws has nobody else to go to
        }
        held.lock();
        to.running = false;
        to.on = {};
        to.idle.notify_all();
    }

    std::shared_ptr<session> const client_;
    seam::cell_key const key_;
    std::shared_ptr<news> const news_;
    std::unique_ptr<core::task_call> call_;
};

}  // namespace detail

subscription::subscription() noexcept = default;
subscription::subscription(subscription&&) noexcept = default;
subscription& subscription::operator=(subscription&&) noexcept = default;
subscription::~subscription() = default;
subscription::subscription(std::unique_ptr<detail::election_watch> watch) noexcept
    : watch_{std::move(watch)} {}

election::election(client const& client, std::string_view name, lock_options options)
    : handle_{std::make_shared<detail::election_handle>(detail::access::state(client), name,
                                                        std::move(options))} {}

election::~election() = default;

lease election::campaign(std::string_view value) {
    auto got = campaign(value, std::stop_token{});
    return std::move(*got);
}

std::optional<lease> election::campaign(std::string_view value, std::stop_token stop) {
    auto got = detail::acquire_on(*handle_->client, handle_->queue(value), true, no_timeout, stop);
    if (got.outcome == core::verdict::busy) detail::policy_ended("'" + name() + "'").raise();
    if (got.held == nullptr) return std::nullopt;
    return handle_->as_lease(std::move(got.held));
}

std::optional<leader_info> election::leader() {
    seam::inspect request{handle_->name};
    request.exact = true;
    auto const answer = handle_->client->ask(std::move(request));
    auto found = core::leader_in(std::get<seam::page>(answer.body));
    if (!found) handle_->require_support(no_timeout);  // nobody leads, or nobody can
    return found;
}

subscription election::observe(observer hear) {
    handle_->client->require_usable();
    if (!hear) base::raise(errc::bad_option, "an observer must be callable");
    try {
        constexpr std::chrono::seconds a_moment{1};
        handle_->require_support(a_moment);
    } catch (std::system_error const& why) {  // a store that is away is observed when it is back
        if (why.code() != make_error_code(errc::store_unavailable)) throw;
    }
    return detail::access::subscribe(
        std::make_unique<detail::election_watch>(handle_->client, handle_->name, std::move(hear)));
}

release_outcome election::resign() {
    handle_->client->require_usable();
    auto const term = handle_->last_term();
    if (term == nullptr)
        base::raise(errc::not_owner, "no term of '" + name() + "' was won through this object");
    return term->release();
}

std::string const& election::name() const noexcept { return handle_->name; }

std::shared_ptr<detail::election_handle> const& election::shared_handle() const noexcept {
    return handle_;
}

}  // namespace v1
}  // namespace holdfast
