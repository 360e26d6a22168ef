#include "stores/etcd/connection.hpp"

#include <algorithm>

#include <grpc/support/time.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include "base/random.hpp"

namespace holdfast::stores::etcd {

namespace {

// etcd hangs up on those who ask more often than every five seconds.
constexpr int ping_every_ms = 6000;

std::shared_ptr<grpc::ChannelCredentials> credentials_of(tls_settings const& tls) {
    if (!tls.on) return grpc::InsecureChannelCredentials();
    grpc::SslCredentialsOptions how;
    how.pem_root_certs = tls.authorities;
    how.pem_cert_chain = tls.certificate;
    how.pem_private_key = tls.key;
    return grpc::SslCredentials(how);
}

grpc::ChannelArguments arguments_of(settings const& to) {
    grpc::ChannelArguments out;
    auto const timeout =
        static_cast<int>(std::min<std::chrono::milliseconds::rep>(to.timeout.count(), 60'000));
    out.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL,
               1);  // each try connects afresh, with no one else's back-off
    out.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // a step is sent once
    out.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    out.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ping_every_ms);
    out.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, timeout);
    out.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    out.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // a ping for every few answers, which are small
    out.SetMaxReceiveMessageSize(-1);
    if (!to.tls.server_name.empty()) out.SetSslTargetNameOverride(to.tls.server_name);
    return out;
}

}  // namespace

connection::connection(settings const& to, grpc::CompletionQueue& on, listeners who)
    : to_{to},
      queue_{on},
      listeners_{std::move(who)},
      credentials_{credentials_of(to.tls)},
      member_{base::entropy() % to.members.size()} {}

void connection::send(std::unique_ptr<call> what) {
    if (state_ == state::ready) return start(std::move(what));
    if (state_ == state::shut)
        return what->deliver(not_sent({errc::closed, "the client was closed"}));
    waiting_.push_back(std::move(what));
    if (state_ == state::idle) begin_round();
}

void connection::want(bool wanted) {
    if (state_ == state::shut) return;
    wanted_ = wanted;
    if (wanted && state_ == state::idle && !timer_.set) begin_round();
}

void connection::begin_round() {
    tried_ = 0;
    try_member();
}

void connection::try_member() {
    state_ = state::greeting;
    route_.number += 1;
    route_.member = to_.member(member_);
    route_.token.clear();
    route_.channel =
        grpc::CreateCustomChannel("dns:///" + route_.member, credentials_, arguments_of(to_));
    start(std::make_unique<unary_call<wire::StatusRequest, wire::StatusResponse>>(
        "/etcdserverpb.Maintenance/Status", wire::StatusRequest{},
        [this, number = route_.number](fault const& trouble, wire::StatusResponse const& response,
                                       base::instant) {
            if (number == route_.number && state_ == state::greeting) on_greeted(trouble, response);
        }));
}

void connection::on_greeted(fault const& trouble, wire::StatusResponse const& response) {
    // A member that only guards its status is there; whether it lets us in shows soon.
    if (trouble && !trouble.error.is(errc::access_denied)) return try_next(trouble.error);
    if (!trouble) {
        if (response.leader() == 0)
            return try_next({errc::store_unavailable,
                             "the etcd server " + route_.member +
                                 " has no leader: most members of its cluster are out of reach"});
        listeners_.on_version(response.version());
    }
    if (to_.user.empty()) return become_ready();
    authenticate();
}

void connection::authenticate() {
    state_ = state::greeting;
    wire::AuthenticateRequest who;
    who.set_name(to_.user);
    who.set_password(to_.password);
    route_.token.clear();
    start(std::make_unique<unary_call<wire::AuthenticateRequest, wire::AuthenticateResponse>>(
        "/etcdserverpb.Auth/Authenticate", std::move(who),
        [this, number = route_.number](fault const& trouble,
                                       wire::AuthenticateResponse const& response, base::instant) {
            if (number != route_.number || state_ != state::greeting) return;
            if (trouble.certain)
                return fail_round(trouble.error);  // no other member would say otherwise
            if (trouble) return try_next(trouble.error);
            route_.token = response.token();
            become_ready();
        }));
}

void connection::become_ready() {
    state_ = state::ready;
    pause_.reset();
    while (!waiting_.empty() && state_ == state::ready) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        start(std::move(next));
    }
    listeners_.on_ready();
}

void connection::try_next(base::error why) {
    member_ = (member_ + 1) % to_.members.size();
    if (++tried_ < to_.members.size()) return try_member();
    if (to_.members.size() > 1)
        why.text = "no server of " + to_.shown() + " can be used; the last one: " + why.text;
    fail_round(why);
}

void connection::fail_round(base::error const& why) {
    state_ = state::idle;
    route_.channel.reset();
    fail_waiting(why);
    listeners_.on_unreachable(why);
    if (!wanted_ || timer_.set || state_ != state::idle) return;
    timer_.set = true;
    timer_.alarm.Set(&queue_,
                     gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                  gpr_time_from_millis(pause_.next().count(), GPR_TIMESPAN)),
                     timer_.tag());
}

void connection::retry_timer::complete(bool ok) {
    set = false;
    if (ok && home.wanted_ && home.state_ == state::idle) home.begin_round();
}

void connection::fail_waiting(base::error const& why) {
    auto const failed = std::exchange(waiting_, {});
    for (auto const& each : failed)
        each->deliver(not_sent(why));
}

void connection::lose(base::error const& why) {
    state_ = state::idle;
    route_.channel.reset();  // calls under way keep it until they end
    member_ = (member_ + 1) % to_.members.size();
    listeners_.on_lost(why);
    if (state_ == state::idle && (wanted_ || !waiting_.empty())) begin_round();
}

void connection::renew_token() {
    if (state_ == state::ready && !to_.user.empty()) authenticate();
}

void connection::on_stream_end(grpc::Status const& status, route const& by) {
    if (by.number != route_.number || state_ != state::ready) return;
    auto const trouble = judge(status, by.member, to_);
    if (trouble.stale_token) return renew_token();
    lose(trouble ? trouble.error
                 : base::error{errc::store_unavailable,
                               "the etcd server " + by.member + " ended a stream"});
}

void connection::start(std::unique_ptr<call> what) {
    auto& kept = *what;
    auto const number = ++started_;
    running_.emplace(number, std::move(what));
    kept.start(route_, queue_, [this, number](call& which, grpc::Status const& status) {
        on_end(number, which, status);
    });
}

base::instant connection::next_end() const {
    auto const oldest = running_.upper_bound(expired_);
    return oldest == running_.end() ? base::never : oldest->second->sent() + to_.timeout;
}

void connection::expire(base::instant now) {
    for (auto each = running_.upper_bound(expired_);
         each != running_.end() && each->second->sent() + to_.timeout <= now; ++each) {
        expired_ = each->first;
        each->second->expire();
    }
}

void connection::on_end(std::uint64_t number, call& which, grpc::Status const& status) {
    auto node = running_.extract(number);
    auto const trouble = judge(status, which.by().member, to_);
    bool const current = which.by().number == route_.number;
    if (trouble.stale_token && !which.repeated && !to_.user.empty() && state_ != state::shut) {
        which.repeated = true;
        if (current && which.by().token == route_.token) renew_token();
        return send(std::move(node.mapped()));
    }
    if (trouble.disconnects && current && state_ == state::ready) lose(trouble.error);
    which.deliver(trouble);
}

void connection::shut() {
    state_ = state::shut;
    wanted_ = false;
    timer_.alarm.Cancel();
    for (auto const& [number, each] : running_)
        if (!each->farewell) each->cancel();
    fail_waiting({errc::closed, "the client was closed"});
    route_.channel.reset();
}

void connection::cancel_all() {
    for (auto const& [number, each] : running_)
        each->cancel();
}

}  // namespace holdfast::stores::etcd
