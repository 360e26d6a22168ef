// memory: lives in one process, and is never silent.
#include <atomic>

#include "conformance/context.hpp"

namespace holdfast::conformance {

namespace {

class memory_context final : public context {
public:
    [[nodiscard]] std::string url() const override { return "memory:test-" + number_; }
    void begin_anew() override {}  // it ended with its last client

private:
    [[nodiscard]] static std::string next() {
        static std::atomic<int> last{0};
        return std::to_string(++last);
    }

    std::string const number_{next()};
};

registration const here{{.name = "memory",
                         .store = "memory",
                         .lacks = {ability::processes, ability::silence},
                         .make = [] { return std::make_unique<memory_context>(); }}};

}  // namespace

}  // namespace holdfast::conformance
