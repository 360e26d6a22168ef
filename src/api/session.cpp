#include "api/session.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <utility>

#include <unistd.h>

#include "api/permit_pool.hpp"
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
        (*loop)->post_at_once([user, level, words = std::move(words)] { user(level, words); });
    };
}

}  // namespace

seam::actor_id this_thread() noexcept {
    static std::atomic<std::uint64_t> last{0};
    thread_local auto const mine = seam::actor_id{last.fetch_add(1, std::memory_order_relaxed) + 1};
    return mine;
}

session::session(std::string_view url, client_options options)
    : patience_{std::min(options.patience, longest_patience)} {
    if (patience_ < milliseconds::zero())
        base::raise(errc::bad_option, "patience must not be negative");
    auto parsed = base::url::parse(url);
    url_ = parsed.shown();
    auto const& module = runtime::find_store(parsed.scheme);
    if (parsed.options.contains("lease")) lease_ = parsed.duration_option("lease", default_lease);
    self_ = {seam::client_id{base::entropy()}, host_name(), ::getpid(), options.label};
    core::engine::settings settings;
    settings.self = self_.id;
    settings.patience = patience_;
    settings.seed = base::entropy();
    // The log needs the loop, and the loop's store needs the log.
    auto const late = std::make_shared<runtime::loop*>(nullptr);
    auto const log = make_log(std::move(options.log), late);
    loop_ = std::make_unique<runtime::loop>(
        [&](seam::event_sink& sink) {
            return module.make({std::move(parsed), self_, sink, log});
        },
        std::move(settings), log);
    *late = loop_.get();
}

session::~session() {
    if (!at_home()) {
        // In the child of a fork the threads do not exist and the locks may be held for ever:
        // nothing of the parent's may be touched.
        (void)loop_.release();
        (void)new auto{std::move(permits_)};
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
    if (!sharable) return fresh;
    std::lock_guard const guard{loop_->mutex()};
    auto const hash = fresh->terms->spec->hash;
    auto const [from, to] = queues_.equal_range(hash);
    for (auto it = from; it != to; ++it)
        if (auto known = it->second.lock();
            known != nullptr && known->terms->same_queue(*fresh->terms))
            return known;
    if (queues_.size() >= swept_at_) {
        std::erase_if(queues_, [](auto const& each) { return each.second.expired(); });
        swept_at_ = std::max<std::size_t>(64, queues_.size() * 2);
    }
    queues_.emplace(hash, fresh);
    return fresh;
}

namespace {

bool is_dead(std::weak_ptr<holder_table> const& holders) { return holders.expired(); }

// With no object that uses it, nothing changes it any more.
bool is_dead(std::shared_ptr<permit_table> const& table) {
    if (table.use_count() > 1) return false;
    std::lock_guard const guard{table->mutex};
    return table->held.empty();
}

std::shared_ptr<holder_table> living(std::weak_ptr<holder_table> const& holders) {
    return holders.lock();
}
std::shared_ptr<permit_table> living(std::shared_ptr<permit_table> const& table) { return table; }

// The living entry of `name`, else a new one. Dead entries are swept when the table has doubled.
template <class Entry>
auto find_or_make(std::map<std::string, Entry, std::less<>>& all, std::string_view name) {
    if (auto const found = all.find(name); found != all.end())
        if (auto known = living(found->second)) return known;
    if (all.size() > 64 && (all.size() & (all.size() - 1)) == 0)
        std::erase_if(all, [](auto const& each) { return is_dead(each.second); });
    auto fresh = std::make_shared<typename Entry::element_type>();
    all.insert_or_assign(std::string{name}, fresh);
    return fresh;
}

}  // namespace

std::shared_ptr<holder_table> session::holders_of(std::string_view name) {
    require_usable();
    std::lock_guard const guard{loop_->mutex()};
    auto out = find_or_make(holder_tables_, name);
    if (out->name.empty()) out->name = name;  // others read it without the lock
    return out;
}

void session::forget_holders(std::string_view name) noexcept {
    std::lock_guard const guard{loop_->mutex()};
    if (auto const found = holder_tables_.find(name);
        found != holder_tables_.end() && found->second.expired())
        holder_tables_.erase(found);
}

std::shared_ptr<permit_table> session::permits_of(std::string_view name) {
    require_usable();
    std::lock_guard const guard{loop_->mutex()};
    return find_or_make(permits_, name);
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

seam::reply session::ask(seam::request what) {
    require_usable();
    runtime::waiter self{*loop_};
    core::operation_call call{std::move(what), self};
    call.deadline = base::after(base::boot_clock::now(), patience_);
    loop_->run(call, self);
    if (call.error) call.error.raise();
    return std::move(call.answer);
}

void session::add_local_waiters(std::vector<lock_info>& infos) {
    std::lock_guard const guard{loop_->mutex()};
    auto const now = base::boot_clock::now();
    for (auto& info : infos) {
        auto const [from, to] = queues_.equal_range(std::hash<std::string>{}(info.name));
        for (auto it = from; it != to; ++it) {
            auto const queue = it->second.lock();
            if (queue == nullptr || info.kind != queue->terms->spec->kind ||
                info.name != queue->terms->spec->name)
                continue;
            // One of them is at the store already when the queue's claim waits there.
            bool at_store = queue->current != nullptr && queue->current->in_store_line;
            for (auto const& call : queue->waiting) {
                if (std::exchange(at_store, false)) continue;
                claim_info waiter;
                waiter.owner = queue->terms->spec->owner.empty()
                                   ? base::hex(static_cast<std::uint64_t>(self_.id)) + "/" +
                                         std::to_string(static_cast<std::uint64_t>(call.actor))
                                   : queue->terms->spec->owner.get();
                waiter.label = queue->terms->spec->label.empty() ? self_.label
                                                                 : queue->terms->spec->label.get();
                waiter.host = self_.host;
                waiter.pid = self_.pid;
                waiter.age = std::chrono::duration_cast<milliseconds>(now - call.began);
                waiter.local = true;
                info.waiters.push_back(std::move(waiter));
            }
        }
    }
}

void session::close() noexcept { loop_->close(patience_); }

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
