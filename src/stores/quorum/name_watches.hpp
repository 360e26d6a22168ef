// Names that are watched for those who wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stores/quorum/rounds.hpp"

namespace holdfast::stores::quorum {

/// Thread-safety: none; it belongs to the machine.
class name_watches {
public:
    /// Both outlive it.
    name_watches(std::vector<member>& members, rounds& asked, std::uint64_t seed,
                 std::chrono::milliseconds longest_lease)
        : members_{members}, rounds_{asked}, random_{seed}, longest_lease_{longest_lease} {}

    void watch(seam::request_id id, seam::watch const& what, base::instant now);
    void unwatch(seam::request_id id, seam::unwatch const& what, base::instant now);
    void on_changed(std::size_t from, seam::changed const& what, base::instant now);
    /// A member may have forgotten what is watched there.
    void watch_again(std::size_t at, base::instant now);
    /// A vote on the name has had a result, or was split.
    void note_vote(std::string const& name, bool split);

    void on_time(base::instant now);
    [[nodiscard]] base::instant next_time() const;

private:
    struct name_watch {
        seam::cell_key key;
        std::set<std::size_t> told{};    ///< members that said it has changed
        base::instant due{base::never};  ///< when it is passed on
        int split_votes{0};              ///< in a row
    };

    std::vector<member>& members_;
    rounds& rounds_;
    base::random random_;
    std::chrono::milliseconds longest_lease_;
    std::map<std::string, name_watch> watches_;
};

}  // namespace holdfast::stores::quorum
