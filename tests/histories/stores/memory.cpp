// memory: one process with several clients. It ends with that process, which is only stopped.
#include "histories/store.hpp"

namespace holdfast::histories {

namespace {

class memory_store final : public store {
public:
    [[nodiscard]] std::string url(int) const override { return "memory:" + url_options(false); }
    [[nodiscard]] std::vector<fault> faults() override { return {}; }
    [[nodiscard]] bool outlives_workers() const override { return false; }
    [[nodiscard]] int workers() const override { return 1; }
    [[nodiscard]] int clients() const override { return 3; }
};

store_row const memory{"memory", [](std::uint64_t) { return std::make_unique<memory_store>(); }};

}  // namespace

}  // namespace holdfast::histories
