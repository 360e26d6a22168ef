#include "quorum/member_server.hpp"

#include <ostream>

namespace holdfast::quorum_faults {

void member_server::stop() {
    do_stop();
    stopped_ = true;
}

void member_server::resume() {
    do_resume();
    stopped_ = false;
}

void member_server::kill() {
    do_kill();
    alive_ = stopped_ = false;
}

void member_server::start() {
    do_start();
    alive_ = true;
}

void member_server::start_empty() {
    do_lose_data();
    start();
    for (auto const& each : users_)
        do_let_in(each);
}

void member_server::let_in(std::string user) {
    do_let_in(user);
    users_.push_back(std::move(user));
}

std::ostream& operator<<(std::ostream& out, member_kind const& kind) { return out << kind.name; }

std::vector<member_kind>& member_kinds() {
    static std::vector<member_kind> all;
    return all;
}

}  // namespace holdfast::quorum_faults
