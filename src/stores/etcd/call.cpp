#include "stores/etcd/call.hpp"

namespace holdfast::stores::etcd {

// Without a deadline: for each of them gRPC wakes a thread of its own. `connection` looks after those instead.
void prepare(grpc::ClientContext& context, route const& by) {
    // A member that has lost its leader says so at once, instead of letting us wait for it.
    context.AddMetadata("hasleader", "true");
    if (!by.token.empty()) context.AddMetadata("token", by.token);
}

void call::start(route by, grpc::CompletionQueue& on, ended then) {
    by_ = std::move(by);
    ended_ = std::move(then);
    drop();
    context_.emplace();
    prepare(*context_, by_);
    expired_ = false;
    sent_ = base::boot_clock::now();
    begin(by_, *context_, on);
}

void keep_alive_call::begin(route const& by, grpc::ClientContext& context,
                            grpc::CompletionQueue& on) {
    phase_ = phase::starting;
    written_ = 0;
    responses_.clear();
    grpc::TemplatedGenericStub<wire::LeaseKeepAliveRequest, wire::LeaseKeepAliveResponse> stub{
        by.channel};
    stream_ = stub.PrepareCall(&context, "/etcdserverpb.Lease/LeaseKeepAlive", &on);
    stream_->StartCall(tag());
}

void keep_alive_call::write() {
    phase_ = phase::writing;
    wire::LeaseKeepAliveRequest request;
    request.set_id(leases_[written_++]);
    grpc::WriteOptions how;
    if (written_ == leases_.size()) how.set_last_message();
    stream_->Write(request, how, tag());
}

void keep_alive_call::complete(bool ok) {
    if (phase_ == phase::finishing) return end(status_);
    if (ok && phase_ == phase::reading) responses_.push_back(response_);
    if (ok && phase_ != phase::reading && written_ < leases_.size()) return write();
    if (ok && responses_.size() < leases_.size()) {
        phase_ = phase::reading;
        stream_->Read(&response_, tag());
        return;
    }
    phase_ = phase::finishing;
    stream_->Finish(&status_, tag());
}

}  // namespace holdfast::stores::etcd
