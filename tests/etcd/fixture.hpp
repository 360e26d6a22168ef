// Drivers of etcd that reach a private server, for tests of faults.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "compare/client.hpp"
#include "stores/etcd/driver.hpp"
#include "support/etcd_server.hpp"

namespace holdfast::etcd_tests {

namespace compare = stores::compare;
using driver_tests::client;

/// What drivers say in the log.
struct said {
    std::mutex mutex;
    std::vector<std::string> words;
};

inline client::maker reach(std::string const& url, said* log = nullptr) {
    return [url, log](compare::driver_events& events) {
        return stores::etcd::make_driver(
            stores::etcd::settings::parse(base::url::parse(url)),
            [log](log_level, std::string const& words) {
                if (log == nullptr) return;
                std::lock_guard const guard{log->mutex};
                log->words.push_back(words);
            },
            events);
    };
}

inline compare::session_id new_session() { return compare::session_id{base::entropy() >> 1}; }

/// The error of an outcome that has one.
inline base::error error_of(compare::outcome const& what) {
    if (auto const* const no = std::get_if<compare::rejected>(&what)) return no->error;
    if (auto const* const doubt = std::get_if<compare::unknown>(&what)) return doubt->error;
    return {};
}

template <class Kind>
[[nodiscard]] bool is(compare::outcome const& what) {
    return std::holds_alternative<Kind>(what);
}

/// A client with a session of its own.
struct party {
    explicit party(std::string const& url, said* log = nullptr,
                   std::chrono::milliseconds lease = std::chrono::seconds{30})
        : self{reach(url, log)}, session{new_session()} {
        auto const found = self.open(session, lease);
        if (auto const* const ready = std::get_if<compare::opened>(&found)) opened = *ready;
        EXPECT_TRUE(is<compare::opened>(found)) << error_of(found).text;
    }

    /// Writes a head where there is none.
    [[nodiscard]] compare::step writing(std::string const& name, std::string body = "head") const {
        compare::step out{.key = {name, false}, .self = session, .of = opened.current};
        out.head = compare::head_write{.body = std::move(body)};
        out.otherwise.key = out.key;
        return out;
    }
    /// A letter and nothing else.
    [[nodiscard]] compare::step writing_to(compare::session_id to, std::string body) const {
        compare::step out{.key = {"post", false}, .self = session, .of = opened.current};
        out.letters.push_back({to, std::move(body)});
        out.otherwise.key = out.key;
        return out;
    }
    [[nodiscard]] compare::kept::state kept() {
        auto const found = self.keep({session});
        auto const* const all = std::get_if<std::vector<compare::kept>>(&found);
        return all == nullptr ? compare::kept::state::unknown : all->front().found;
    }

    client self;
    compare::session_id session;
    compare::opened opened{};
};

}  // namespace holdfast::etcd_tests
