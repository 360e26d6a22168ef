#include "stores/etcd/watches.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::stores::etcd {

watches::id watches::add(subject what) {
    auto const which = ++last_;
    auto& added = all_.emplace(which, watch{.what = std::move(what)}).first->second;
    if (stream_ != nullptr)
        ask(which, added);
    else if (connection_.is_ready())
        open();
    else
        connection_.want(true);
    return which;
}

void watches::remove(id which) {
    auto const found = all_.find(which);
    if (found == all_.end()) return;
    auto const number = found->second.number;
    all_.erase(found);
    if (all_.empty()) connection_.want(false);
    if (stream_ == nullptr || number == 0) return;
    by_number_.erase(number);
    wire::WatchRequest request;
    request.mutable_cancel_request()->set_watch_id(number);
    stream_->write(std::move(request));
}

void watches::on_ready() {
    if (stream_ == nullptr && !all_.empty()) open();
}

void watches::on_lost() {
    if (stream_ != nullptr) std::exchange(stream_, nullptr)->abandon();
    asked_.clear();
    if (!all_.empty()) connection_.want(true);
}

void watches::open() {
    member_ = connection_.current().member;
    ++streams_;
    stream_ = std::make_shared<watch_stream>(
        connection_.current(), queue_,
        watch_stream::listeners{
            .on_message = [this](wire::WatchResponse const& message) { on_message(message); },
            .on_end = [this](grpc::Status const& status, route const& by) { on_end(status, by); },
            .on_gone = [this] { --streams_; }});
    stream_->start();
    by_number_.clear();
    for (auto& [which, each] : all_)
        ask(which, each);
}

// From a revision of the past etcd serves a watch late, in turns of a tenth of a second; so only where
// something may have been missed.
void watches::ask(id which, watch& of) {
    wire::WatchRequest request;
    auto& create = *request.mutable_create_request();
    of.number = ++last_number_;
    by_number_.emplace(of.number, which);
    create.set_watch_id(of.number);
    create.set_key(of.what.range.begin);
    create.set_range_end(of.what.range.end);
    create.set_start_revision(of.next);
    create.set_progress_notify(true);
    if (of.what.deletions_only) create.add_filters(wire::WatchCreateRequest::NOPUT);
    asked_.push_back(which);
    stream_->write(std::move(request));
}

void watches::on_end(grpc::Status const& status, route const& by) {
    stream_.reset();
    asked_.clear();
    connection_.on_stream_end(status, by);
    if (stream_ == nullptr && connection_.is_ready() && !all_.empty()) open();
}

void watches::on_message(wire::WatchResponse const& message) {
    if (message.created() && !on_created(message)) return;
    auto const known = by_number_.find(message.watch_id());
    if (known == by_number_.end()) return;
    if (message.canceled()) return on_canceled(known->second, message);
    auto const found = all_.find(known->second);
    if (found == all_.end()) return;
    // A batch of old events may be followed by another one, so only the events say how far it went.
    if (!message.events().empty())
        found->second.next = message.events(message.events_size() - 1).kv().mod_revision() + 1;
    else if (!message.created())
        found->second.next = message.header().revision() + 1;
    auto const hear = found->second.what.on_event;  // it may remove the watch
    for (auto const& each : message.events())
        hear(each);
}

bool watches::on_created(wire::WatchResponse const& message) {
    if (asked_.empty()) return false;
    auto const which = asked_.front();  // a refusal may not say which
    asked_.pop_front();
    if (message.canceled()) {
        on_canceled(which, message);
        return false;
    }
    auto const found = all_.find(which);
    if (found == all_.end()) return false;
    auto& entry = found->second;
    entry.denied = false;
    if (std::exchange(entry.lapsed, false)) pause_.reset();
    if (entry.next == 0) entry.next = message.header().revision() + 1;
    if (std::exchange(entry.told, true)) return true;
    auto const tell = entry.what.on_force;  // it may remove the watch
    tell({}, entry.again);
    return true;
}

void watches::on_canceled(id which, wire::WatchResponse const& message) {
    auto const found = all_.find(which);
    if (found == all_.end()) return;
    auto& entry = found->second;
    by_number_.erase(entry.number);
    if (message.compact_revision() != 0) {
        entry.next = 0;
        entry.again = entry.told || entry.again;
        entry.told = false;
        return ask(which, entry);
    }
    auto const& words = message.cancel_reason();  // as a Go program prints an error
    auto const own = words.find("etcdserver:");
    auto const trouble =
        judge({grpc::StatusCode::PERMISSION_DENIED, own == words.npos ? words : words.substr(own)},
              member_, settings_);
    // A stream has the token that it began with, and etcd 3.4 calls an old one a missing right.
    if (trouble.error.is(errc::access_denied) && !settings_.user.empty() && !entry.denied) {
        for (auto& [other, each] : all_)  // one fresh token is for all of them
            each.denied = true;
        on_lost();
        return connection_.renew_token();
    }
    if (entry.told || entry.again || entry.what.patient) return lapse(entry, trouble.error);
    auto const tell = entry.what.on_force;
    all_.erase(found);
    tell(trouble, false);
}

// Whoever asked for it counts on being told. It goes on from where it ended, once it is allowed again.
void watches::lapse(watch& of, base::error const& why) {
    bool const first =
        std::ranges::none_of(all_, [](auto const& each) { return each.second.lapsed; });
    if (first) out_.doubt(why.text);
    of.lapsed = true;
    of.number = 0;
    if (ask_again_ == base::never) ask_again_ = base::boot_clock::now() + pause_.next();
}

void watches::on_time(base::instant now) {
    if (now < ask_again_) return;
    ask_again_ = base::never;
    // A stream that is yet to begin asks for all of them, and so does one that has begun since.
    if (stream_ == nullptr || !connection_.is_ready()) return;
    auto const refused = [](watch const& each) { return each.lapsed && each.number == 0; };
    if (std::ranges::none_of(all_, [&](auto const& each) { return refused(each.second); })) return;
    if (!settings_.user.empty()) {  // what is refused may be the stream's token
        on_lost();
        return connection_.renew_token();
    }
    for (auto& [which, each] : all_)
        if (refused(each)) ask(which, each);
}

void watches::on_unreachable(base::error const& why) {
    std::vector<std::function<void(fault const&, bool)>> refused;
    for (auto each = all_.begin(); each != all_.end();) {
        bool const hopeless =
            !each->second.told && !each->second.again && !each->second.what.patient;
        if (hopeless) refused.push_back(each->second.what.on_force);
        each = hopeless ? all_.erase(each) : std::next(each);
    }
    for (auto const& tell : refused)
        tell(not_sent(why), false);
}

}  // namespace holdfast::stores::etcd
