// Members of the kind mysql.
#include "quorum/member_server.hpp"
#include "support/mysql_server.hpp"

namespace holdfast::quorum_faults {
namespace {

registration const mysql{{.name = "mysql",
                          .scheme = "quorum+mysql://root@",
                          .database = "/holdfast",
                          .make = []() -> std::unique_ptr<member_server> {
                              return std::make_unique<member_of<support::mysql_server>>();
                          }}};

}  // namespace
}  // namespace holdfast::quorum_faults
