// Names that are watched for those who wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "stores/quorum/rounds.hpp"

namespace holdfast::stores::quorum {

/// All who wait hear of a release at once, and all who ask at once split the vote. So each looks at a random moment
/// whether a majority of the members is free, and only then passes the news on.
///
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

    void on_granted(std::string const& name);
    /// A vote was split that took so long: how long to wait before the next one, the longer the more were split. Zero
    /// when nobody waits.
    [[nodiscard]] std::chrono::nanoseconds time_after_split(std::string const& name,
                                                            std::chrono::nanoseconds taken);
    /// For those who would all ask at the same moment.
    [[nodiscard]] std::chrono::nanoseconds random_wait();

    void on_time(base::instant now);
    [[nodiscard]] base::instant next_time() const {
        return due_.empty() ? base::never : due_.begin()->first;
    }

private:
    struct name_watch {
        seam::cell_key key;
        std::set<std::size_t> told{};    ///< members that said it has changed
        base::instant due{base::never};  ///< when it is looked at
        int split_votes{0};              ///< in a row
    };

    [[nodiscard]] std::chrono::nanoseconds below(std::chrono::nanoseconds span);
    void look(name_watch const& watch, base::instant now);
    /// To be looked at soon, once a majority has told of it.
    void plan(std::string const& name, name_watch& watch, base::instant now);

    std::vector<member>& members_;
    rounds& rounds_;
    base::random random_;
    std::chrono::milliseconds longest_lease_;
    std::map<std::string, name_watch> watches_;
    std::set<std::pair<base::instant, std::string>> due_;
};

}  // namespace holdfast::stores::quorum
