// ZooKeeper against the rules.
#include "oracle/row.hpp"
#include "support/zookeeper_server.hpp"

extern "C" holdfast::seam::store_module const* holdfast_store_zookeeper_v1();

namespace holdfast::oracle {
namespace {

running_store run_zookeeper() {
    auto server = std::make_shared<support::zookeeper_server>();
    return {server->url(), server};
}

[[maybe_unused]] auto const& added =
    further_rows().emplace_back(row{.name = "zookeeper",
                                    .make = make_by<&holdfast_store_zookeeper_v1>,
                                    .run = run_zookeeper,
                                    .sessions = true,
                                    .requests = 100'000});

}  // namespace
}  // namespace holdfast::oracle
