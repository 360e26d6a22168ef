// The stores that are compared with the rules.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "oracle/oracle_client.hpp"

namespace holdfast::oracle {

/// A store that runs for one test.
struct running_store {
    std::string url;
    std::shared_ptr<void> server{};  ///< whatever must live as long
};

/// A store under test.
struct row {
    std::string name;
    oracle_client::maker make;
    std::function<running_store()> run;
    /// All that a request leads to is told by it, and nothing else is told.
    bool tells_at_once{false};
    /// Claims live with a session, not with leases of their own; and a request is judged at some moment
    /// before its reply. Nothing ends by time in such a run, and times are not compared.
    bool sessions{false};
    /// Requests that are sent at once may be carried out together.
    bool gathers{false};
    bool ballots{false};    ///< it can be a member of a quorum
    int requests{400'000};  ///< in a run with full counts
};

template <seam::store_module const* (*Module)()>
std::unique_ptr<seam::store> make_by(seam::store_context context) {
    return Module()->make(std::move(context));
}

/// Rows of stores that may not be built; <store>_row.cpp adds them before main.
[[nodiscard]] inline std::vector<row>& further_rows() {
    static std::vector<row> all;
    return all;
}

}  // namespace holdfast::oracle
