#include "stores/etcd/watch_stream.hpp"

#include <utility>

namespace holdfast::stores::etcd {

void* watch_stream::part::begin(std::shared_ptr<watch_stream> of) {
    of_ = std::move(of);
    return tag();
}

void watch_stream::part::complete(bool ok) {
    auto const kept = std::exchange(of_, nullptr);
    (kept.get()->*then_)(ok);
}

void watch_stream::start() {
    prepare(context_, by_);
    grpc::TemplatedGenericStub<wire::WatchRequest, wire::WatchResponse> stub{by_.channel};
    stream_ = stub.PrepareCall(&context_, "/etcdserverpb.Watch/Watch", &queue_);
    stream_->StartCall(starting_.begin(shared_from_this()));
}

void watch_stream::abandon() {
    abandoned_ = true;
    context_.TryCancel();
}

void watch_stream::write(wire::WatchRequest what) {
    outbox_.push_back(std::move(what));
    if (!writing_) write_next();
}

void watch_stream::write_next() {
    writing_ = !outbox_.empty() && !finishing_;
    if (!writing_) return;
    stream_->Write(outbox_.front(), written_.begin(shared_from_this()));
    outbox_.pop_front();
}

void watch_stream::finish() {
    if (std::exchange(finishing_, true)) return;
    stream_->Finish(&status_, finished_.begin(shared_from_this()));
}

void watch_stream::on_started(bool ok) {
    if (!ok) return finish();
    stream_->Read(&message_, reading_.begin(shared_from_this()));
    write_next();
}

void watch_stream::on_read(bool ok) {
    if (!ok) return finish();
    if (!abandoned_) listeners_.on_message(message_);
    stream_->Read(&message_, reading_.begin(shared_from_this()));
}

// A write that fails is followed by a read that does.
void watch_stream::on_written(bool ok) {
    writing_ = false;
    if (ok) write_next();
}

void watch_stream::on_finished(bool /*ok*/) {
    if (!abandoned_) listeners_.on_end(status_, by_);
}

}  // namespace holdfast::stores::etcd
