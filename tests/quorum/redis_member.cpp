// Members of the kind redis.
#include "quorum/member_server.hpp"
#include "support/redis_server.hpp"

namespace holdfast::quorum_faults {
namespace {

// It keeps nothing: whoever is killed has lost its data.
registration const redis{{.name = "redis",
                          .scheme = "quorum+redis://",
                          .login = "",
                          .account = "default:",  // which takes any password
                          .database = "",
                          .make = []() -> std::unique_ptr<member_server> {
                              return std::make_unique<member_of<support::redis_server>>("");
                          }}};

}  // namespace
}  // namespace holdfast::quorum_faults
