#include "redis/fenced_load.hpp"

#include <algorithm>
#include <iostream>
#include <utility>

namespace holdfast::redis_faults {

fenced_load::fenced_load(std::string const& url, std::vector<std::string> names,
                         load_options options)
    : names_{std::move(names)} {
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<std::string> words;
        if (!options.routes.empty())
            words = {"/usr/bin/env", "LD_PRELOAD=" HOLDFAST_TEST_OTHER_NETWORK,
                     "HOLDFAST_TEST_ROUTES=" + options.routes[i % options.routes.size()]};
        words.insert(words.end(), {HOLDFAST_TEST_VISITOR, url, (place_.path() / "numbers").string(),
                                   std::to_string(i), std::to_string(options.lease.count())});
        words.insert(words.end(), names_.begin(), names_.end());
        processes_.emplace_back(std::move(words));
    }
}

std::vector<std::uint64_t> fenced_load::visits(part of_them) const {
    std::vector<std::uint64_t> out(names_.size());
    for (auto i = of_them.first; i < count; i += of_them.step)
        for (std::size_t name = 0; name < names_.size(); ++name)
            out[name] += numbers_->visits[i][name];
    return out;
}

bool fenced_load::goes_on(std::chrono::milliseconds bound, part of_them) {
    constexpr std::uint64_t enough = 3;
    stopwatch const since;
    auto const before = visits(of_them);
    bool const out = eventually(
        [&] {
            auto const after = visits(of_them);
            return std::ranges::equal(
                before, after, [](auto then, auto present) { return present >= then + enough; });
        },
        bound);
    std::cout << "all names are used again after " << since.elapsed().count() << " ms" << std::endl;
    return out;
}

void fenced_load::end() {
    for (auto& each : processes_)
        each.send("end");
    for (auto& each : processes_)
        if (each.finish() != 0) ADD_FAILURE() << "a process ended with: " << each.read();
    processes_.clear();
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        EXPECT_TRUE(numbers_->numbers[i].is_right()) << "two changed '" << names_[i] << "' at once";
        all += numbers_->numbers[i].value();
    }
    EXPECT_EQ(numbers_->not_rising, 0U) << "tokens";
    std::cout << all << " visits, " << numbers_->refused << " refused, " << numbers_->losses
              << " losses, " << numbers_->unavailable << " that found no store" << std::endl;
}

}  // namespace holdfast::redis_faults
