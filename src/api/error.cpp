#include <string>

#include <holdfast/error.hpp>

namespace holdfast {
inline namespace v1 {

namespace {

class category final : public std::error_category {
public:
    char const* name() const noexcept override { return "holdfast"; }

    std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
        case errc::not_owner: return "not held by the caller";
        case errc::lost: return "what was held or waited for is gone";
        case errc::store_unavailable: return "the store is unavailable";
        case errc::timed_out: return "timed out";
        case errc::access_denied: return "access denied by the store";
        case errc::kind_mismatch: return "the name is in use as another kind of synchronizer";
        case errc::limit_mismatch: return "the name is in use with another limit";
        case errc::broken_barrier: return "the barrier is broken";
        case errc::bad_url: return "bad store URL";
        case errc::bad_name: return "bad name";
        case errc::bad_option: return "bad option";
        case errc::would_deadlock: return "waiting would never end";
        case errc::unsupported: return "not supported";
        case errc::closed: return "the client is closed";
        }
        return "unknown error " + std::to_string(code);
    }
};

}  // namespace

std::error_category const& error_category() noexcept {
    static category const instance;
    return instance;
}

std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

}  // namespace v1
}  // namespace holdfast
