// Boxes for letters: one for each session of this client, and what others have left of theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stores/zookeeper/common_session.hpp"
#include "stores/zookeeper/known_nodes.hpp"

namespace holdfast::stores::zookeeper {

/// The numbers of letters are known beforehand, so the next one alone is watched for and no box is ever listed.
///
/// Thread-safety: none; the driver serialises.
class mailboxes {
public:
    mailboxes(context& with, common_session& by, known_nodes& known)
        : with_{with}, common_{by}, known_{known} {}

    /// Makes the box of a session. `then`: letters are heard of, or what is in the way.
    void open(compare::session_id id, std::function<void(fault const&)> then);
    /// The session has ended.
    void close(compare::session_id id);

    /// What is not heard of is waited for again, when there is a connection.
    void tend();
    /// The watches are gone.
    void renew();

    /// What dead clients have left behind.
    void sweep();

private:
    struct box {
        std::uint64_t next{0};  ///< number of the letter that is waited for
        bool open{false};
        bool hears{false};                ///< of that letter
        std::vector<std::string> read{};  ///< letters that have been taken, and are still in it
    };

    void await(compare::session_id id);
    void take(compare::session_id id);
    [[nodiscard]] static std::vector<operation> removals(std::vector<std::string> const& letters);
    void remove(std::vector<std::string> const& letters);
    void clear(compare::session_id id, std::vector<std::string> const& read);
    void clear_letters(compare::session_id id);
    void sweep_ends(std::vector<std::string> const& sessions);

    context& with_;
    common_session& common_;
    known_nodes& known_;
    std::map<compare::session_id, box> all_;
};

}  // namespace holdfast::stores::zookeeper
