// One function for each promise: it looks at the whole history and adds what it finds.
#pragma once

#include <vector>

#include "histories/checker.hpp"
#include "histories/holds.hpp"

namespace holdfast::histories::checks {

/// What every check is given.
struct evidence {
    history const& all;
    std::vector<hold> const& holds;
    std::vector<event> const& lapses;
};

using findings = std::vector<violation>;

void exclusion(evidence const& from, findings& out);
void permits(evidence const& from, findings& out);
void tokens(evidence const& from, findings& out);
void registers(evidence const& from, findings& out);
void outcomes(evidence const& from, findings& out);
void leaders(evidence const& from, findings& out);
void latches(evidence const& from, findings& out);
void barriers(evidence const& from, findings& out);
void conditions(evidence const& from, findings& out);
void progress(evidence const& from, findings& out);
void remains(evidence const& from, findings& out);

}  // namespace holdfast::histories::checks
