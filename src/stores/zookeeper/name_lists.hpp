// Which names there are.
#pragma once

#include <memory>
#include <string>

#include "stores/zookeeper/common_session.hpp"

namespace holdfast::stores::zookeeper {

/// Thread-safety: none; the driver serialises.
class name_lists {
public:
    name_lists(context& with, common_session& by) : with_{with}, common_{by} {}

    void list(compare::ticket which, compare::listing what);

private:
    struct listed;

    void list_some(std::shared_ptr<listed> const& state);
    void clear_name(std::string const& path);

    context& with_;
    common_session& common_;
};

}  // namespace holdfast::stores::zookeeper
