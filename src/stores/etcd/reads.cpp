#include "stores/etcd/reads.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "stores/etcd/signs_of_life.hpp"
#include "stores/etcd/transaction.hpp"

namespace holdfast::stores::etcd {

namespace {

constexpr std::size_t most_ranges = 100;  ///< in one request; etcd allows 128

struct reading_state {
    connection& by;
    range_requests what;
    reader then;
    range_responses found{};
    shared_term term{};
};

void read_some(std::shared_ptr<reading_state> const& state) {
    auto const begun = state->found.size();
    if (begun == state->what.size()) return state->then({}, state->found, state->term.value());
    std::span const rest{state->what.begin() + static_cast<std::ptrdiff_t>(begun),
                         state->what.end()};
    auto const count = std::min(rest.size(), most_ranges);
    state->by.send<wire::TxnRequest, wire::TxnResponse>(
        "/etcdserverpb.KV/Txn", reading(rest.first(count)),
        [state, count](fault const& trouble, wire::TxnResponse& response, base::instant) {
            if (trouble) return state->then(trouble, state->found, 0);
            if (!has_ranges(response, count)) return state->then(strange_answer(), state->found, 0);
            for (auto& each : *response.mutable_responses())
                state->found.push_back(std::move(*each.mutable_response_range()));
            state->term.note(response.header().raft_term());
            read_some(state);
        });
}

}  // namespace

void read(connection& by, range_requests what, reader then) {
    read_some(std::make_shared<reading_state>(
        reading_state{.by = by, .what = std::move(what), .then = std::move(then)}));
}

}  // namespace holdfast::stores::etcd
