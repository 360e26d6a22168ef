#include "api/session.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <utility>

#include <unistd.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/url.hpp"
#include "runtime/loader.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds default_lease{30'000};
// Whoever asks for more means for ever; nanoseconds can still count it.
constexpr milliseconds longest_patience = std::chrono::hours{24 * 365};

std::string host_name() {
    char name[HOST_NAME_MAX + 1] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

runtime::loop::log_function make_log(std::function<void(log_level, std::string_view)> user,
                                     std::shared_ptr<runtime::loop*> const& loop) {
    return [user = std::move(user), loop](log_level level, std::string words) {
        if (!user || *loop == nullptr) return;
        (*loop)->post_or_drop([user, level, words = std::move(words)] { user(level, words); });
    };
}

// Makes the members of a store that is made of stores.
std::function<std::unique_ptr<seam::store>(base::url, seam::event_sink&)> opener(
    seam::identity self, runtime::loop::log_function log) {
    return [self = std::move(self), log = std::move(log)](base::url url, seam::event_sink& sink) {
        auto const& module = runtime::find_store(url.scheme);
        return module.make({std::move(url), self, sink, log, opener(self, log)});
    };
}

}  // namespace

seam::actor_id this_thread() noexcept {
    static std::atomic<std::uint64_t> last{0};
    thread_local auto const mine = seam::actor_id{last.fetch_add(1, std::memory_order_relaxed) + 1};
    return mine;
}

session::session(std::string_view url, client_options options)
    : patience_{std::min(options.patience, longest_patience)},
      tables_{std::make_unique<name_tables>()} {
    if (patience_ < milliseconds::zero())
        base::raise(errc::bad_option, "patience must not be negative");
    auto parsed = base::url::parse(url);
    url_ = parsed.shown();
    auto const& module = runtime::find_store(parsed.scheme);
    if (parsed.options.contains("lease")) lease_ = parsed.duration_option("lease", default_lease);
    self_ = {seam::client_id{base::entropy()}, host_name(), ::getpid(), options.label};
    core::engine::settings settings;
    settings.self = self_.id;
    settings.store = url_;
    settings.patience = patience_;
    settings.seed = base::entropy();
    // The log needs the loop, and the loop's store needs the log.
    auto const late = std::make_shared<runtime::loop*>(nullptr);
    auto const log = make_log(std::move(options.log), late);
    loop_ = std::make_unique<runtime::loop>(
        [&](seam::event_sink& sink) {
            auto out = module.make({std::move(parsed), self_, sink, log, opener(self_, log)});
            longest_lease_ = out->abilities().longest_lease;
            return out;
        },
        std::move(settings), log);
    *late = loop_.get();
}

session::~session() {
    if (!at_home()) {
        // In the child of a fork the threads do not exist and the locks may be held for ever, over tables
        // that are half changed: nothing of the parent's may be touched.
        (void)loop_.release();
        (void)tables_.release();
        return;
    }
    close();
}

void session::require_usable() const {
    if (!at_home())
        base::raise(errc::closed,
                    "this client belongs to the process that forked this one; make a new one");
}

lock_options session::with_defaults(lock_options options) const {
    if (lease_ && options.lease == default_lease) options.lease = *lease_;
    return options;
}

std::shared_ptr<core::wait_queue> session::queue_for(core::terms terms) {
    require_usable();
    auto const sharable = terms.sharable();
    auto fresh =
        std::make_shared<core::wait_queue>(std::make_shared<core::terms const>(std::move(terms)),
                                           sharable && loop_->has_biased_holds());
    return sharable ? tables_->queue_like(std::move(fresh)) : fresh;
}

std::shared_ptr<holder_table> session::holders_of(std::string_view name) {
    require_usable();
    return tables_->holders_of(name);
}

std::shared_ptr<permit_table> session::permits_of(std::string_view name) {
    require_usable();
    return tables_->permits_of(name);
}

bool session::run(core::task_call::body what, std::chrono::nanoseconds timeout,
                  std::stop_token const& stop) {
    require_usable();
    if (stop.stop_requested()) return false;
    runtime::waiter self{*loop_};
    core::task_call call{std::move(what), self};
    if (timeout != std::chrono::nanoseconds::max())
        call.deadline = base::after(base::boot_clock::now(), timeout);
    loop_->run(call, self, stop);
    if (call.error != nullptr) std::rethrow_exception(call.error);
    return !call.stopped;
}

seam::reply session::ask(seam::request what, std::chrono::nanoseconds most) {
    require_usable();
    runtime::waiter self{*loop_};
    core::operation_call call{std::move(what), self};
    call.deadline =
        base::after(base::boot_clock::now(), std::min<std::chrono::nanoseconds>(patience_, most));
    loop_->run(call, self);
    if (call.error) call.error.raise();
    return std::move(call.answer);
}

claim_info session::describe(core::terms const& asked, runtime::local_waiter const& who) const {
    auto const& spec = *asked.spec;
    claim_info out;
    out.owner = spec.owner.empty() ? base::hex(static_cast<std::uint64_t>(self_.id)) + "/" +
                                         std::to_string(static_cast<std::uint64_t>(who.actor))
                                   : spec.owner.get();
    out.label = spec.label.empty() ? self_.label : spec.label.get();
    out.host = self_.host;
    out.pid = self_.pid;
    out.age = std::chrono::duration_cast<milliseconds>(who.age);
    out.local = true;
    return out;
}

void session::add_local_waiters(std::vector<lock_info>& infos) {
    name_tables::queues queues;
    std::vector<lock_info*> described;  // one for each queue
    for (auto& info : infos)
        for (auto& queue : tables_->queues_of(info.name, info.kind)) {
            queues.push_back(std::move(queue));
            described.push_back(&info);
        }
    auto const waiters = loop_->local_waiters(queues);
    for (std::size_t i = 0; i < queues.size(); ++i)
        for (auto const& each : waiters[i])
            described[i]->waiters.push_back(describe(*queues[i]->terms, each));
}

void session::close() noexcept { loop_->close(patience_); }

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
