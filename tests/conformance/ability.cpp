#include "conformance/ability.hpp"

namespace holdfast::conformance {

std::string_view to_string(ability which) {
    switch (which) {
    case ability::processes: return "processes";
    case ability::silence: return "silence";
    case ability::clients_in_forks: return "clients_in_forks";
    case ability::lasting_tokens: return "lasting_tokens";
    case ability::line: return "line";
    case ability::holder_details: return "holder_details";
    case ability::any_name: return "any_name";
    case ability::fair_order: return "fair_order";
    case ability::shared_holds: return "shared_holds";
    case ability::joint_owners: return "joint_owners";
    case ability::semaphores: return "semaphores";
    case ability::latches: return "latches";
    case ability::barriers: return "barriers";
    case ability::conditions: return "conditions";
    case ability::elections: return "elections";
    }
    return "";
}

}  // namespace holdfast::conformance
