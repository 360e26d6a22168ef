// One call to a member: how it is begun on a channel, and how it ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#if __has_include(<grpcpp/impl/proto_utils.h>)
#include <grpcpp/impl/proto_utils.h>
#else  // before gRPC 1.55
#include <grpcpp/impl/codegen/proto_utils.h>
#endif

#include "base/clock.hpp"
#include "stores/etcd/fault.hpp"
#include "stores/etcd/wire.hpp"

namespace holdfast::stores::etcd {

/// What a completion queue gives back.
class completion {
public:
    /// Something that was begun has ended; whether it succeeded.
    virtual void complete(bool ok) = 0;

    /// As the queue wants it.
    [[nodiscard]] void* tag() noexcept { return this; }

protected:
    ~completion() = default;
};

/// Where and with what a call is begun.
struct route {
    std::shared_ptr<grpc::Channel> channel;
    std::string member;       ///< as messages name it
    std::uint64_t number{0};  ///< another one for each connection
    std::string token;        ///< of the user; empty without one
};

/// Fills in what every call carries.
void prepare(grpc::ClientContext& context, route const& by);

/// Thread-safety: none, as all that is here; the driver serialises.
/// Lifetime: lives until it ended, also when the connection is given up meanwhile.
class call : public completion {
public:
    /// Told when the network has nothing more to say about it.
    using ended = std::function<void(call& which, grpc::Status const& status)>;

    call() = default;
    call(call const&) = delete;
    call& operator=(call const&) = delete;
    virtual ~call() = default;

    void start(route by, grpc::CompletionQueue& on, ended then);
    void cancel() {
        if (context_) context_->TryCancel();
    }
    /// Gives it up because no answer came; it ends as one that took too long.
    void expire() {
        expired_ = true;
        cancel();
    }

    /// Its end, for whoever made it: called once. With a fault there is no answer.
    virtual void deliver(fault const& trouble) = 0;

    [[nodiscard]] route const& by() const noexcept { return by_; }
    /// When it was given to the network, for the last time.
    [[nodiscard]] base::instant sent() const noexcept { return sent_; }

    bool farewell{false};  ///< nobody waits for it, but it should arrive
    bool repeated{false};  ///< was sent a second time, with a fresh token

protected:
    virtual void begin(route const& by, grpc::ClientContext& context,
                       grpc::CompletionQueue& on) = 0;
    /// Lets go of what was begun, which must not outlive its context.
    virtual void drop() noexcept = 0;
    void end(grpc::Status const& status) {
        ended_(*this, expired_ && !status.ok()
                          ? grpc::Status{grpc::StatusCode::DEADLINE_EXCEEDED, "no answer in time"}
                          : status);
    }

private:
    route by_;
    base::instant sent_{};
    bool expired_{false};
    std::optional<grpc::ClientContext> context_;
    ended ended_;
};

/// One request, one response.
template <class Request, class Response>
class unary_call final : public call {
public:
    using answer =
        std::function<void(fault const& trouble, Response& response, base::instant sent)>;

    unary_call(char const* method, Request request, answer then)
        : method_{method}, request_{std::move(request)}, answer_{std::move(then)} {}

    void complete(bool /*ok*/) override { end(status_); }
    void deliver(fault const& trouble) override { answer_(trouble, response_, sent()); }

protected:
    void begin(route const& by, grpc::ClientContext& context, grpc::CompletionQueue& on) override {
        grpc::TemplatedGenericStub<Request, Response> stub{by.channel};
        reader_ = stub.PrepareUnaryCall(&context, method_, request_, &on);
        reader_->StartCall();
        reader_->Finish(&response_, &status_, tag());
    }
    void drop() noexcept override { reader_.reset(); }

private:
    std::string method_;
    Request request_;
    Response response_;
    grpc::Status status_;
    answer answer_;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_;
};

/// One sign of life for each of several leases, on one stream, which ends with the last answer. A stream
/// that stays open would need a deadline for each answer; this one has that of the call.
class keep_alive_call final : public call {
public:
    /// `responses`: as many as were answered, in the order of the leases.
    using answer = std::function<void(fault const& trouble,
                                      std::vector<wire::LeaseKeepAliveResponse> const& responses,
                                      base::instant sent)>;

    keep_alive_call(std::vector<std::int64_t> leases, answer then)
        : leases_{std::move(leases)}, answer_{std::move(then)} {}

    void complete(bool ok) override;
    void deliver(fault const& trouble) override { answer_(trouble, responses_, sent()); }

protected:
    void begin(route const& by, grpc::ClientContext& context, grpc::CompletionQueue& on) override;
    void drop() noexcept override { stream_.reset(); }

private:
    enum class phase { starting, writing, reading, finishing };

    void write();

    std::vector<std::int64_t> leases_;
    answer answer_;
    phase phase_{phase::starting};
    std::size_t written_{0};
    wire::LeaseKeepAliveResponse response_;
    std::vector<wire::LeaseKeepAliveResponse> responses_;
    grpc::Status status_;
    std::unique_ptr<
        grpc::ClientAsyncReaderWriter<wire::LeaseKeepAliveRequest, wire::LeaseKeepAliveResponse>>
        stream_;
};

}  // namespace holdfast::stores::etcd
