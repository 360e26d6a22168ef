// The line of a name, whose keys are used again.
#include "etcd/fixture.hpp"

namespace holdfast::etcd_tests {

namespace {

compare::line_item claim_of(party const& whose, std::uint64_t age, std::uint16_t index) {
    return {.id = {seam::client_id{static_cast<std::uint64_t>(whose.session)},
                   age << seam::claim_id::index_bits | index},
            .session = whose.session,
            .body = "claim " + std::to_string(age)};
}

compare::step joining(party const& who, compare::line_item const& item) {
    auto out = who.writing("q", "never written");
    out.expected = compare::stamp{1};  // nobody's
    out.append_otherwise = {item};
    out.otherwise.claims = {item.id};
    return out;
}

std::vector<seam::claim_id> line_in(compare::outcome const& what) {
    std::vector<seam::claim_id> out;
    auto const* const found = std::get_if<compare::missed>(&what);
    EXPECT_NE(found, nullptr) << driver_tests::words_of(what);
    if (found == nullptr) return out;
    EXPECT_TRUE(found->found.others.empty());
    for (auto const& each : found->found.line)
        out.push_back(each.id);
    return out;
}

// A client gives no index twice at one time; if it did, nobody must lose a place by it.
TEST(etcd_line, a_claim_is_not_written_over_by_another_one_with_its_index) {
    support::etcd_server const server;
    party one{server.url()};
    auto const before = claim_of(one, 1, 7);
    auto const after = claim_of(one, 2, 7);
    auto const beside = claim_of(one, 3, 8);
    EXPECT_EQ(line_in(one.self.commit(joining(one, before))), std::vector{before.id});
    EXPECT_EQ(line_in(one.self.commit(joining(one, after))), std::vector{before.id});
    EXPECT_EQ(line_in(one.self.commit(joining(one, beside))), (std::vector{before.id, beside.id}));
    auto appending = one.writing("q", "a head");
    appending.append = {after};
    EXPECT_EQ(line_in(one.self.commit(appending)), (std::vector{before.id, beside.id}))
        << "nothing of the step has happened";

    auto leaving = one.writing("q");
    leaving.head.reset();
    auto const seen = std::get<compare::missed>(one.self.commit(joining(one, before))).found.line;
    leaving.present = leaving.leave = {seen.front()};
    EXPECT_TRUE(is<compare::committed>(one.self.commit(leaving)));
    EXPECT_EQ(line_in(one.self.commit(joining(one, after))), (std::vector{beside.id, after.id}));
    EXPECT_EQ(line_in(one.self.commit(leaving)), (std::vector{beside.id, after.id}))
        << "who left is not taken for the one who has its key now";
    leaving.present = leaving.leave = {
        std::get<compare::missed>(one.self.commit(joining(one, after))).found.line.back()};
    EXPECT_TRUE(is<compare::committed>(one.self.commit(leaving)));
}

}  // namespace

}  // namespace holdfast::etcd_tests
