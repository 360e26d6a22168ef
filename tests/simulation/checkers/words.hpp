// The values of cells, read here by nothing that the product uses.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "seam/claim.hpp"

namespace holdfast::simulation {

class cell_words {
public:
    explicit cell_words(std::string const& value) : in_{value} {}

    std::uint64_t number() {
        std::uint64_t out = 0;
        in_ >> out;
        return out;
    }
    std::vector<seam::claim_id> ids(std::uint64_t most) {
        std::vector<seam::claim_id> out;
        std::string word;
        while (out.size() < most && in_ >> word)
            out.push_back(seam::parse_claim_id(word).value_or(seam::claim_id{}));
        return out;
    }

private:
    std::istringstream in_;
};

}  // namespace holdfast::simulation
