// What the library answers.
#include <memory>
#include <utility>

#include "stores/zookeeper/session_handle_call.hpp"

namespace holdfast::stores::zookeeper {

void session_handle::finish(call* which, int code) {
    std::unique_ptr<call> const own{which};
    auto& home = *own->home;
    if (home.under_way_.erase(which) == 0) return;  // answered as lost
    home.progress_ = base::boot_clock::now();
    home.reminded_ = false;
    own->out.code = home.closing_ ? ZCLOSING : code;
    if (own->then) own->then(own->out);
}

// The library tells what was lost only when it has connected again. It keeps the calls until then.
void session_handle::lose_all() {
    for (auto* const each : std::exchange(under_way_, {})) {
        each->out.code = ZCONNECTIONLOSS;
        if (auto const then = std::exchange(each->then, {})) then(each->out);
    }
}

// Of operations that are carried out together, those before the one that failed have no error and those behind it
// have one that says so; without an answer of the server's all of them have the same.
void session_handle::on_void(int code, void const* data) {
    auto* const which = const_cast<call*>(static_cast<call const*>(data));
    bool const answered =
        code <= ZAPIERROR && code != ZSESSIONEXPIRED && code != ZAUTHFAILED && code != ZCLOSING;
    for (std::size_t each = 0; each < which->results.size(); ++each) {
        int const error = which->results[each].err;
        if (answered && error != ZOK && error != ZRUNTIMEINCONSISTENCY &&
            which->out.failed == answer::nowhere)
            which->out.failed = each;
        if (code != ZOK) continue;
        if (which->stats[each].mzxid != 0) which->out.stat = which->stats[each];
        if (which->made[each][0] != '\0') which->out.names.emplace_back(which->made[each].data());
    }
    finish(which, code);
}

void session_handle::on_string(int code, char const* /*value*/, void const* data) {
    finish(const_cast<call*>(static_cast<call const*>(data)), code);
}

void session_handle::on_stat(int code, Stat const* stat, void const* data) {
    auto* const which = const_cast<call*>(static_cast<call const*>(data));
    if (code == ZOK) which->out.stat = *stat;
    finish(which, code);
}

void session_handle::on_data(int code, char const* value, int size, Stat const* stat,
                             void const* data) {
    auto* const which = const_cast<call*>(static_cast<call const*>(data));
    if (code == ZOK) {
        which->out.stat = *stat;
        if (size > 0) which->out.data.assign(value, static_cast<std::size_t>(size));
    }
    finish(which, code);
}

void session_handle::on_children(int code, String_vector const* names, Stat const* stat,
                                 void const* data) {
    auto* const which = const_cast<call*>(static_cast<call const*>(data));
    if (code == ZOK) {
        which->out.stat = *stat;
        for (int each = 0; each < names->count; ++each)
            which->out.names.emplace_back(names->data[each]);
    }
    finish(which, code);
}

}  // namespace holdfast::stores::zookeeper
