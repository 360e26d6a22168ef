#include "stores/redis/link.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

namespace {

// The server forgets a watch after a minute.
constexpr std::chrono::seconds watch_every{20};

// With so many commands under way, a further one waits until the driver has read some answers, and
// goes out with others in one piece. Below, it is written at once.
constexpr std::size_t gather_from = 8;

// By which servers show the connections of a client.
std::string name_of(seam::identity const& self) {
    return "holdfast-" + base::hex(static_cast<std::uint64_t>(self.id));
}

seam::reply failed(base::error why) { return {{}, seam::failure{std::move(why)}}; }

}  // namespace

link::traits::traits(seam::request const& of) {
    if (auto const* const submitted = std::get_if<seam::submit>(&of)) listens = submitted->queue;
    if (auto const* const watched = std::get_if<seam::watch>(&of)) {
        key = watched->key;
        listens = watches = true;
    } else if (auto const* const unwatched = std::get_if<seam::unwatch>(&of)) {
        key = unwatched->key;
    } else if (auto const* const renewal = std::get_if<seam::renew>(&of)) {
        is_renewal = true;
        answer_within = renewal->answer_within;
    }
}

link::link(settings wanted, seam::identity const& self, seam::event_sink& sink, log_function log)
    : settings_{std::make_shared<settings const>(std::move(wanted))},
      sink_{sink},
      log_{std::move(log)},
      slots_{settings_->kind == deployment::cluster ? std::make_shared<slot_map>() : nullptr},
      layout_{settings_->layout == layout_name::plain
                  ? make_plain_layout(*settings_, self, slots_)
                  : make_native_layout(*settings_, self, slots_)},
      known_{settings_->kind == deployment::one_server},
      servers_{settings_, name_of(self), *this, poller_,
               settings_->kind == deployment::sentinel ? std::make_shared<slot_map>() : slots_},
      hearing_{settings_,       name_of(self) + "-messages", layout_->channel(), *this, poller_,
               servers::own_tag} {}

link::~link() {
    pending_.clear_and_dispose([](pending_request* request) { delete request; });
}

seam::lane_id link::lane_of(std::string_view name) const noexcept {
    if (slots_ == nullptr) return {};
    return slots_->lane_of(layout_->slot_of(name)).value_or(seam::lane_id{});
}

// --- requests ----------------------------------------------------------------------------------

std::optional<seam::reply> link::send(seam::request_id id, seam::request what) {
    if (!known_ && keep_early(id, what)) return std::nullopt;
    traits const about{what};
    auto exchange = layout_->begin(std::move(what));
    if (exchange->outbox.empty()) return exchange->close();
    ++senders_;
    base::lock_guard const held{mutex_};
    --senders_;
    return begin(id, about, std::move(exchange));
}

bool link::keep_early(seam::request_id id, seam::request& what) {
    base::lock_guard const held{mutex_};
    if (known_ || shut_ || abandoned_) return false;
    now_ = base::boot_clock::now();
    early_.keep({id, std::move(what), now_ + settings_->timeout});
    poller_.wake();
    return true;
}

std::optional<seam::reply> link::begin(seam::request_id id, traits const& about,
                                       std::unique_ptr<exchange> work) {
    if (shut_ || abandoned_) return failed({errc::closed, "the store is shut"});
    now_ = base::boot_clock::now();
    auto const& first = work->outbox.front();
    auto* const to = servers_.find(first.to);
    bool const stale = first.only_for != seam::clock_id{} && to != nullptr &&
                       to->commands.is_ready() && first.only_for != to->commands.clock();
    if (stale)
        return seam::reply{{}, seam::failure{another_server(to->target())}, to->commands.clock()};
    if (about.key && hearing_.is_possible())
        about.watches ? void(watched_.insert(*about.key)) : void(watched_.erase(*about.key));
    if (about.watches && watch_again_at_ == base::never) watch_again_at_ = now_ + watch_every;
    if (about.answer_within > std::chrono::milliseconds::zero() && to != nullptr &&
        to->leave_dead(now_)) {
        hearing_.probe(about.answer_within, now_);
        poller_.wake();
    }
    auto const before = to != nullptr ? to->commands.unanswered() : 0;
    auto& request = launch(std::move(work), id);
    request.answer_within = about.answer_within;
    request.deaf = about.listens && hearing_.begin_to_rely();
    if (request.deaf) poller_.wake();
    advance(request);
    write_or_leave(to, about.is_renewal ? 0 : before);
    poller_.wake_by(next_due());
    return std::nullopt;
}

// Those who came first go first.
void link::on_known(std::string const& remark) {
    mutex_.assert_held();
    known_ = true;
    if (!remark.empty() && !shut_) warn(about_guides_, remark);
    for (auto& each : early_.take()) {
        traits const about{each.what};
        auto work = layout_->begin(std::move(each.what));
        auto reply = work->outbox.empty() ? std::optional{work->close()}
                                          : begin(each.id, about, std::move(work));
        if (reply) deliveries_.add(each.id, std::move(*reply));
    }
}

pending_request& link::launch(std::unique_ptr<exchange> what, std::optional<seam::request_id> id) {
    auto* const request = new pending_request{*this, std::move(what), id};
    pending_.push_back(*request);
    return *request;
}

// Sends what the request wants sent; when nothing is under way any more, it is complete.
void link::advance(pending_request& request) {
    request.send(now_ + settings_->timeout);
    if (!request.is_answered()) return;
    complete(request);
    pending_.erase_and_dispose(pending_.iterator_to(request),
                               [](pending_request* whole) { delete whole; });
}

void link::send(question what) {
    mutex_.assert_held();
    servers_.send(std::move(what), now_);
}

void link::on_answered(pending_request& request, seam::clock_id by) {
    mutex_.assert_held();
    if (by != seam::clock_id{}) on_carried_out(by);
    advance(request);
}

void link::complete(pending_request& request) {
    if (!request.id()) return;
    auto reply = request.close();
    if (auto const* const to = servers_.find(request.to());
        to != nullptr && reply.clock == seam::clock_id{} && !request.spans_servers())
        reply.clock = to->commands.clock();
    bool const waits = std::holds_alternative<seam::queued>(reply.body) ||
                       std::holds_alternative<seam::done>(reply.body);
    if (request.deaf) hearing_.on_answered(waits);
    pass_on(*request.id(), std::move(reply), request.answer_within);
}

void link::pass_on(seam::request_id id, seam::reply reply,
                   std::chrono::milliseconds answer_within) {
    if (settings_->replicas == 0 || !replication::concerns(reply))
        return deliveries_.add(id, std::move(reply));
    if (auto* const by = servers_.find(reply.clock))
        return by->replicas->keep(id, std::move(reply), now_, answer_within);
    deliveries_.add(id, failed(another_server(*settings_)));
}

// --- messages ----------------------------------------------------------------------------------

void link::tell(seam::notice what) {
    auto* const granted = std::get_if<seam::claim_granted>(&what);
    if (settings_->replicas > 0 && granted != nullptr) {
        if (auto* const by = servers_.find(granted->clock))
            return by->replicas->keep(std::move(what), now_);
        granted
            ->clock = {};  // of nobody whom we could ask for a confirmation: the claim is asked for
    }
    deliveries_.add(std::move(what));
}

void link::watch_again() {
    watch_again_at_ = watched_.empty() ? base::never : now_ + watch_every;
    for (auto const& key : watched_)
        advance(launch(layout_->begin(seam::watch{key}), std::nullopt));
}

// The calling thread writes by itself when little is under way: it saves the driver's awakening.
void link::write_or_leave(node* to, std::size_t before) {
    if (to == nullptr || !to->commands.is_ready()) return poller_.wake();
    if (driven_ && before >= gather_from) return;
    servers_.flush(now_, driven_);
    if (!to->commands.is_ready()) poller_.wake();
}

}  // namespace holdfast::stores::redis
