// etcd against the rules.
#include "oracle/row.hpp"
#include "support/etcd_server.hpp"

extern "C" holdfast::seam::store_module const* holdfast_store_etcd_v1();

namespace holdfast::oracle {
namespace {

running_store run_etcd() {
    auto server = std::make_shared<support::etcd_server>();
    return {server->url(), server};
}

[[maybe_unused]] auto const& added =
    further_rows().emplace_back(row{.name = "etcd",
                                    .make = make_by<&holdfast_store_etcd_v1>,
                                    .run = run_etcd,
                                    .sessions = true,
                                    .requests = 100'000});

}  // namespace
}  // namespace holdfast::oracle
