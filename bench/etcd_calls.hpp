// Bare gRPC to etcd: the transactions that the store itself sends, and nothing around them.
#pragma once

#include <stdexcept>
#include <string>

#include <grpcpp/create_channel.h>
#include <grpcpp/grpcpp.h>

#include "base/random.hpp"
#include "stores/etcd/call.hpp"
#include "stores/etcd/keys.hpp"
#include "stores/etcd/transaction.hpp"

namespace bench {

namespace compare = holdfast::stores::compare;
namespace etcd = holdfast::stores::etcd;
namespace wire = etcd::wire;

/// One connection with a session of its own. Not thread-safe.
class etcd_caller {
public:
    explicit etcd_caller(std::string const& url)
        : channel_{grpc::CreateChannel(url.substr(url.find("//") + 2),
                                       grpc::InsecureChannelCredentials())} {
        wire::LeaseGrantRequest lease;
        lease.set_id(etcd::lease_of(session_));
        lease.set_ttl(3600);  // nobody renews it
        ask<wire::LeaseGrantRequest, wire::LeaseGrantResponse>("/etcdserverpb.Lease/LeaseGrant",
                                                               lease);
        auto const opened = transact(etcd::opening(session_, "bench", keys_));
        generation_ = etcd::stamp_of(opened.header().revision());
    }

    /// The body of a head, as the store writes it.
    [[nodiscard]] std::string body_of(std::string const& name) {
        wire::RangeRequest look;
        look.set_key(keys_.head({name, false}));
        auto const found = transact(etcd::reading({&look, 1}));
        wire::Head head;
        if (found.responses(0).response_range().kvs().empty() ||
            !head.ParseFromString(found.responses(0).response_range().kvs(0).value()))
            throw std::runtime_error{"nobody holds " + name};
        return head.body();
    }

    [[nodiscard]] wire::TxnRequest acquire(std::string const& name, std::string const& body) const {
        auto step = step_on(name);
        step.head = compare::head_write{.body = body, .sessions = {session_}, .bound = session_};
        step.nobody_behind = 0;
        step.append_otherwise = {{.id = {}, .session = session_, .body = body}};
        return etcd::transaction_of(step, keys_);
    }
    [[nodiscard]] wire::TxnRequest release(std::string const& name, std::int64_t held) const {
        auto step = step_on(name);
        step.expected = etcd::stamp_of(held);
        step.head = compare::head_write{.erase = true};
        step.nobody_behind = 0;
        return etcd::transaction_of(step, keys_);
    }

    /// Sends and waits for the answer.
    wire::TxnResponse transact(wire::TxnRequest const& what) {
        return ask<wire::TxnRequest, wire::TxnResponse>("/etcdserverpb.KV/Txn", what);
    }

    /// `count` owners of names of their own, `turns` pairs each, as many requests under way as owners.
    void run_many(int count, int turns, std::string const& prefix, std::string const& body) {
        struct owner {
            std::string name;
            int left;
            std::int64_t held{0};
            std::unique_ptr<grpc::ClientContext> context{};
            std::unique_ptr<grpc::ClientAsyncResponseReader<wire::TxnResponse>> reader{};
            wire::TxnResponse response{};
            grpc::Status status{};
        };
        std::vector<owner> all;
        for (int i = 0; i < count; ++i)
            all.push_back({prefix + std::to_string(i), turns});
        auto const send = [&](owner& each) {
            each.context = std::make_unique<grpc::ClientContext>();
            each.response.Clear();
            auto const what =
                each.held == 0 ? acquire(each.name, body) : release(each.name, each.held);
            grpc::TemplatedGenericStub<wire::TxnRequest, wire::TxnResponse> stub{channel_};
            each.reader =
                stub.PrepareUnaryCall(each.context.get(), "/etcdserverpb.KV/Txn", what, &queue_);
            each.reader->StartCall();
            each.reader->Finish(&each.response, &each.status, &each);
        };
        for (auto& each : all)
            send(each);
        for (auto under_way = all.size(); under_way > 0;) {
            void* tag = nullptr;
            bool ok = false;
            queue_.Next(&tag, &ok);
            auto& each = *static_cast<owner*>(tag);
            if (!each.status.ok() || !each.response.succeeded())
                throw std::runtime_error{"a bare step failed: " + each.status.error_message()};
            each.held = each.held == 0 ? each.response.header().revision() : 0;
            if (each.held == 0 && --each.left == 0)
                --under_way;
            else
                send(each);
        }
    }

private:
    [[nodiscard]] compare::step step_on(std::string const& name) const {
        compare::step out{.key = {name, false}, .self = session_, .of = generation_};
        out.otherwise.key = out.key;
        out.otherwise.claims = {{}};
        return out;
    }

    template <class Request, class Response>
    Response ask(char const* method, Request const& what) {
        grpc::ClientContext context;
        grpc::Status status;
        Response out;
        grpc::TemplatedGenericStub<Request, Response> stub{channel_};
        auto const reader = stub.PrepareUnaryCall(&context, method, what, &queue_);
        reader->StartCall();
        reader->Finish(&out, &status, this);
        void* tag = nullptr;
        bool ok = false;
        queue_.Next(&tag, &ok);
        if (!status.ok()) throw std::runtime_error{status.error_message()};
        return out;
    }

    std::shared_ptr<grpc::Channel> channel_;
    grpc::CompletionQueue queue_;
    etcd::keys keys_{"holdfast/"};
    compare::session_id session_{holdfast::base::entropy() >> 1};
    compare::generation generation_{};
};

}  // namespace bench
