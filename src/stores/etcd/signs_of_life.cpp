#include "stores/etcd/signs_of_life.hpp"

namespace holdfast::stores::etcd {

std::vector<sign_of_life> signs_of(std::vector<compare::session_id> const& sessions,
                                   std::vector<wire::LeaseKeepAliveResponse> const& answers) {
    std::vector<sign_of_life> out;
    for (std::size_t each = 0; each < sessions.size(); ++each) {
        auto& sign = out.emplace_back(sign_of_life{.id = sessions[each]});
        if (each >= answers.size() || answers[each].id() != lease_of(sign.id)) continue;
        sign.renewed = answers[each].ttl() > 0;
        sign.term = answers[each].header().raft_term();
    }
    return out;
}

compare::kept::state judge(sign_of_life const& sign, bool there, std::uint64_t term) {
    if (!there) return compare::kept::state::dead;
    bool const confirmed = sign.renewed && term != 0 && sign.term == term;
    return confirmed ? compare::kept::state::alive : compare::kept::state::unknown;
}

}  // namespace holdfast::stores::etcd
