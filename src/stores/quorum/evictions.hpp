// Claims of others are ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "stores/quorum/rounds.hpp"

namespace holdfast::stores::quorum {

/// An eviction of whoever holds looks first, and then ends each claim that was seen by its id. A member may carry a
/// request out long after it was taken for silent: one that named nobody would end the hold of whoever came meanwhile.
///
/// Thread-safety: none; it belongs to the machine.
class evictions {
public:
    /// All but the lease outlive it.
    evictions(std::vector<member>& members, rounds& asked, std::chrono::milliseconds longest_lease)
        : members_{members}, rounds_{asked}, longest_lease_{longest_lease} {}

    void evict(seam::request_id id, seam::evict const& what, base::instant now);

private:
    struct run;

    void ask_all(round& in, seam::request const& what, base::instant now);
    void end_next(std::shared_ptr<run> const& of, base::instant now);
    void end_one(std::shared_ptr<run> const& of, base::instant now);

    std::vector<member>& members_;
    rounds& rounds_;
    std::chrono::milliseconds longest_lease_;
};

}  // namespace holdfast::stores::quorum
