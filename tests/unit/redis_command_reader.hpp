// What a client sends, as a server of the test's own reads it.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

using strings = std::vector<std::string>;

/// Takes commands apart as they come. Thread-safety: one thread feeds, another takes.
class command_reader {
public:
    void feed(std::string_view bytes) {
        std::lock_guard const held{mutex_};
        buffer_ += bytes;
        while (auto one = next())
            commands_.push_back(shown(*one));
    }
    [[nodiscard]] std::size_t size() const {
        std::lock_guard const held{mutex_};
        return commands_.size();
    }
    [[nodiscard]] strings take() {
        std::lock_guard const held{mutex_};
        return std::exchange(commands_, {});
    }

private:
    /// One whole command; nothing while it is not all there.
    std::optional<strings> next() {
        std::size_t at = 0;
        auto const number = [&]() -> std::optional<std::size_t> {
            auto const end = buffer_.find("\r\n", at);
            if (end == std::string::npos) return std::nullopt;
            auto const out = std::stoul(buffer_.substr(at + 1, end - at - 1));
            at = end + 2;
            return out;
        };
        auto const count = number();
        if (!count) return std::nullopt;
        strings out;
        for (std::size_t i = 0; i < *count; ++i) {
            auto const length = number();
            if (!length || buffer_.size() < at + *length + 2) return std::nullopt;
            out.push_back(buffer_.substr(at, *length));
            at += *length + 2;
        }
        buffer_.erase(0, at);
        return out;
    }

    /// The script and the names in its keys, "text" before a call that has it all; "load" and the script; what a
    /// sentinel is asked; or the verb.
    static std::string shown(strings const& all) {
        if (all[0] == "SENTINEL") return all[0] + " " + all[1];
        if (all[0] == "SCRIPT" && all[1] == "LOAD") return "load " + script_of(all[2]);
        if (all[0] != "EVALSHA" && all[0] != "EVAL") return all[0];
        auto out = (all[0] == "EVAL" ? "text " : "") + script_of(all[1]);
        auto const keys = std::stoul(all[2]);
        for (std::size_t i = 3; i < 3 + keys; ++i)
            if (all[i].starts_with("holdfast:name:{") && all[i].ends_with('}'))
                out += " " + all[i].substr(15, all[i].size() - 16);
        return out;
    }

    static std::string script_of(std::string_view sha_or_text) {
        for (auto const* const each : {&scripts::submit, &scripts::settle, &scripts::many,
                                       &scripts::adjust, &scripts::renew, &scripts::inspect})
            if (sha_or_text == each->sha || sha_or_text == each->text)
                return std::string{each->name};
        return "?";
    }

    mutable std::mutex mutex_;  ///< guards what follows
    std::string buffer_;
    strings commands_;
};

}  // namespace holdfast::stores::redis
