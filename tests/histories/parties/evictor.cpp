// Throws holders out of the lock that is there for it.
#include "histories/party.hpp"

namespace holdfast::histories {

namespace {

class evictor final : public party {
public:
    using party::party;

private:
    void step() override {
        rest(50ms, 400ms);
        event one;
        one.kind = kind::evicting;
        one.before = boot_time();
        one.set_name(evicted_name);
        record_.append(one);
        one.number = static_cast<std::int64_t>(around_.client.evict(evicted_name));
        one.kind = kind::evicted;
        one.after = boot_time();
        record_.append(one);
        record_.advance();
    }
};

}  // namespace

std::unique_ptr<party> make_evictor(surroundings const& around, identity who) {
    return std::make_unique<evictor>(around, who);
}

}  // namespace holdfast::histories
