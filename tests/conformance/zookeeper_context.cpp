// zookeeper: private servers, shared by the tests of one process. Each test has a path of its own.
#include <string>

#include <unistd.h>

#include "conformance/context.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::conformance {

namespace {

class zookeeper_context : public context {
public:
    explicit zookeeper_context(support::zookeeper_server& at) : server_{at} {
        static int count = 0;
        path_ = "/tests/" + std::to_string(::getpid()) + "-" + std::to_string(++count);
    }
    ~zookeeper_context() override { resume(); }

    [[nodiscard]] std::string url() const override {
        auto out = server_.url();
        return out.insert(out.find('?'), path_);
    }

    void silence() override {
        for (std::size_t each = 0; each < server_.members(); ++each)
            server_.stop(each);
    }
    void restore() override { resume(); }
    void begin_anew() override { server_.begin_anew(); }

private:
    void resume() {
        for (std::size_t each = 0; each < server_.members(); ++each)
            server_.resume(each);
    }

    support::zookeeper_server& server_;
    std::string path_;
};

// Each server is started when the first test needs it, and kept until the process ends.

support::zookeeper_server& one_server() {
    static support::zookeeper_server out;
    return out;
}

support::zookeeper_server& three_servers() {
    static support::zookeeper_server out{{.members = 3}};
    return out;
}

abilities const lacking{ability::lasting_tokens};

registration const one{{.name = "zookeeper", .store = "zookeeper", .lacks = lacking, .make = [] {
                            return std::make_unique<zookeeper_context>(one_server());
                        }}};
registration const three{
    {.name = "zookeeper_ensemble", .store = "zookeeper", .lacks = lacking, .make = [] {
         return std::make_unique<zookeeper_context>(three_servers());
     }}};

}  // namespace

}  // namespace holdfast::conformance
