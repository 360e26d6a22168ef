// One stream of watches to one member.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "stores/etcd/call.hpp"

namespace holdfast::stores::etcd {

/// Lives until the network has returned all that was begun, also when its owner has let go of it.
///
/// Thread-safety: none; the driver serialises.
class watch_stream : public std::enable_shared_from_this<watch_stream> {
public:
    struct listeners {
        std::function<void(wire::WatchResponse const& message)> on_message;
        std::function<void(grpc::Status const& status, route const& by)> on_end;
        std::function<void()> on_gone;  ///< the object ends
    };

    watch_stream(route by, grpc::CompletionQueue& on, listeners who)
        : by_{std::move(by)}, queue_{on}, listeners_{std::move(who)} {}
    ~watch_stream() { listeners_.on_gone(); }
    watch_stream(watch_stream const&) = delete;
    watch_stream& operator=(watch_stream const&) = delete;

    void start();
    void write(wire::WatchRequest what);
    /// Tells its owner nothing more.
    void abandon();

private:
    /// A part of the stream that was begun; keeps the stream alive.
    struct part final : completion {
        using step = void (watch_stream::*)(bool ok);
        explicit part(step then) : then_{then} {}
        [[nodiscard]] void* begin(std::shared_ptr<watch_stream> of);
        void complete(bool ok) override;

    private:
        step then_;
        std::shared_ptr<watch_stream> of_;
    };

    void on_started(bool ok);
    void on_read(bool ok);
    void on_written(bool ok);
    void on_finished(bool ok);
    void finish();
    void write_next();

    route by_;
    grpc::CompletionQueue& queue_;
    listeners listeners_;
    grpc::ClientContext context_;
    bool abandoned_{false};
    bool writing_{true};  ///< or not started yet
    bool finishing_{false};
    std::deque<wire::WatchRequest> outbox_;
    wire::WatchResponse message_;
    grpc::Status status_;
    part starting_{&watch_stream::on_started};
    part reading_{&watch_stream::on_read};
    part written_{&watch_stream::on_written};
    part finished_{&watch_stream::on_finished};
    std::unique_ptr<grpc::ClientAsyncReaderWriter<wire::WatchRequest, wire::WatchResponse>> stream_;
};

}  // namespace holdfast::stores::etcd
