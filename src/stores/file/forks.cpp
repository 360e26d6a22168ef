#include "stores/file/forks.hpp"

#include <algorithm>
#include <vector>

#include <pthread.h>

#include "stores/file/database.hpp"

namespace holdfast::stores::file::forks {

namespace {

struct registry {
    std::mutex mutex;
    std::mutex opening;  ///< locked after the locks of the parties, which are locked after `mutex`
    std::vector<party*> parties;
    /// Connections of the parent. Has room for one of each party: in the child of a fork nothing is
    /// allocated, since not every allocator is whole there, and most children only want to exec.
    std::vector<sqlite3*> left_over;
};

// Never destroyed: clients of static storage duration may outlive any other order.
registry& all() {
    static auto& instance = *new registry;
    return instance;
}

void before() {
    all().mutex.lock();
    for (auto* const each : all().parties)
        each->hold_still();
    all().opening.lock();
}

void after_in_parent() {
    all().opening.unlock();
    for (auto* const each : all().parties)
        each->go_on();
    all().mutex.unlock();
}

void after_in_child() {
    for (auto* const each : all().parties)
        if (auto* const connection = each->part()) all().left_over.push_back(connection);
    all().opening.unlock();
    for (auto* const each : all().parties)
        each->go_on();
    all().mutex.unlock();
}

}  // namespace

party::party() {
    static int const registered = ::pthread_atfork(&before, &after_in_parent, &after_in_child);
    static_cast<void>(registered);
    std::scoped_lock const guard{all().mutex, all().opening};
    all().parties.push_back(this);
    all().left_over.reserve(all().left_over.size() + all().parties.size());
}

party::~party() {
    std::lock_guard const guard{all().mutex};
    std::erase(all().parties, this);
}

std::unique_lock<std::mutex> opening() {
    std::unique_lock guard{all().opening};
    for (auto* const connection : all().left_over)
        database::close(connection);
    all().left_over.clear();  // and keeps its room
    return guard;
}

}  // namespace holdfast::stores::file::forks
