// Members of the kind mysql.
#include "quorum/member_server.hpp"
#include "support/mysql_server.hpp"

namespace holdfast::quorum_faults {
namespace {

registration const mysql{{.name = "mysql",
                          .scheme = "quorum+mysql://",
                          .login = "root@",
                          .account = "",
                          .database = "/holdfast",
                          .make = []() -> std::unique_ptr<member_server> {
                              return std::make_unique<member_of<support::mysql_server>>(
                                  "CREATE USER ?@'%',?@localhost,?@127.0.0.1;"
                                  "GRANT ALL ON *.* TO ?@'%',?@localhost,?@127.0.0.1");
                          }}};

}  // namespace
}  // namespace holdfast::quorum_faults
