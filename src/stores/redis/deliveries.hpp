// What is told to the sink and to the log when the lock is free again.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/options.hpp>

#include "seam/store.hpp"

namespace holdfast::stores::redis {

using log_function = std::function<void(log_level, std::string)>;

/// Collected under a lock of the owner, taken away as a whole, and told without it.
///
/// Thread-safety: none; its owner serialises.
class deliveries {
public:
    void add(seam::request_id id, seam::reply what) { replies_.emplace_back(id, std::move(what)); }
    void add(seam::notice what) { notices_.push_back(std::move(what)); }
    void add(log_level level, std::string words) { words_.emplace_back(level, std::move(words)); }

    [[nodiscard]] bool empty() const noexcept { return !concern_sink() && words_.empty(); }
    [[nodiscard]] bool concern_sink() const noexcept {
        return !replies_.empty() || !notices_.empty();
    }

    /// Called once, with no lock held.
    void hand_over(seam::event_sink& sink, log_function const& log) {
        for (auto& [level, text] : words_)
            log(level, std::move(text));
        for (auto& [id, answer] : replies_)
            sink.on_reply(id, std::move(answer));
        for (auto& each : notices_)
            sink.on_notice(std::move(each));
    }

private:
    std::vector<std::pair<seam::request_id, seam::reply>> replies_;
    std::vector<seam::notice> notices_;
    std::vector<std::pair<log_level, std::string>> words_;
};

}  // namespace holdfast::stores::redis
