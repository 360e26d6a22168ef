// Evictions: claims of others are ended, however many they are.
#pragma once

#include <functional>
#include <memory>

#include "stores/compare/client_state.hpp"
#include "stores/compare/gatherings.hpp"
#include "stores/compare/name_work.hpp"

namespace holdfast::stores::compare {

/// Everybody who is evicted gets a letter in the step that ends its hold, and a step takes so many and no more. A few
/// who hold are ended at once. Where there are more, those who were seen to hold are ended one by one, as many in a step
/// as go together: each step leaves the name as it should be, and who is let in meanwhile is spared.
///
/// Thread-safety: none; it belongs to its machine.
class evictions {
public:
    using continuation = std::function<void(seam::reply_body)>;

    evictions(client_state& client, name_work& work, gatherings& many)
        : client_{client}, work_{work}, many_{many} {}

    void begin(seam::evict const& what, continuation done);

private:
    /// One request, until all of its parts are answered.
    struct part_counter;
    using run = std::shared_ptr<part_counter>;

    void look(run const& of, seam::evict const& what);
    void end_seen(run const& of, seam::evict const& what, view const& seen);
    void end(run const& of, name_key const& key, seam::evict what);

    client_state& client_;
    name_work& work_;
    gatherings& many_;
};

}  // namespace holdfast::stores::compare
