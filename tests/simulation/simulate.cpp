// simulate: runs seeds, or one seed with its story.
//
//     simulate --seeds FROM..TO      every seed from FROM to TO; prints those that fail
//     simulate --seed N [--trace]    one seed, with a line for everything that happens
//     simulate --only THEME …        of those seeds, the ones about locks, readers, permits, fair, latch,
//                                    barrier, election, condition or together
//     simulate --comparing …         of those seeds, the ones whose store compares
//     simulate --variant NAME …      a deliberately broken product instead
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "simulation/run.hpp"
#include "simulation/variants.hpp"

namespace {

namespace simulation = holdfast::simulation;
using holdfast::base::parse_number;

struct wishes {
    std::uint64_t from{1};
    std::uint64_t to{1};
    bool trace{false};
    bool comparing{false};
    simulation::variant which{};
    std::optional<simulation::theme> only{};
};

std::optional<wishes> parse(int count, char** words) {
    wishes out;
    for (int i = 1; i < count; ++i) {
        std::string_view const word = words[i];
        std::string_view const next = i + 1 < count ? words[i + 1] : "";
        if (word == "--trace") {
            out.trace = true;
            continue;
        }
        if (word == "--comparing") {
            out.comparing = true;
            continue;
        }
        ++i;
        if (word == "--seed") {
            auto const seed = parse_number(next);
            if (!seed) return std::nullopt;
            out.from = out.to = *seed;
        } else if (word == "--seeds") {
            auto const dots = next.find("..");
            auto const from = parse_number(next.substr(0, dots));
            auto const to =
                dots == std::string_view::npos ? std::nullopt : parse_number(next.substr(dots + 2));
            if (!from || !to) return std::nullopt;
            out.from = *from;
            out.to = *to;
        } else if (word == "--only") {
            out.only = simulation::find_theme(next);
            if (!out.only) return std::nullopt;
        } else if (auto const which = simulation::find_variant(next);
                   word == "--variant" && which) {
            out.which = *which;
        } else {
            return std::nullopt;
        }
    }
    return out;
}

}  // namespace

int main(int count, char** words) {
    auto const asked = parse(count, words);
    if (!asked) {
        std::fprintf(stderr,
                     "usage: simulate --seeds FROM..TO | --seed N [--trace] [--only THEME] "
                     "[--comparing] [--variant NAME]\n");
        return 64;
    }
    std::uint64_t runs = 0;
    std::uint64_t failures = 0;
    std::uint64_t holds = 0;
    std::uint64_t passes = 0;
    std::uint64_t losses = 0;
    std::uint64_t steps = 0;
    for (auto seed = asked->from; seed <= asked->to; ++seed) {
        if (asked->only && simulation::theme_of(seed) != *asked->only) continue;
        holdfast::base::random draws{seed};
        if (asked->comparing && !simulation::draw_profile(draws, seed).compares()) continue;
        ++runs;
        auto const result = simulation::run_seed(
            seed, asked->which,
            asked->trace ? simulation::trace_mode::printed : simulation::trace_mode::none);
        holds += result.holds;
        passes += result.passes;
        losses += result.losses;
        steps += result.steps;
        if (!result.failed) continue;
        ++failures;
        std::printf("%s\n", simulation::describe(seed, result).c_str());
        std::fflush(stdout);
    }
    std::printf(
        "%llu seeds, %llu failed; %llu events, %llu holds, %llu of them passed on, "
        "%llu lost\n",
        static_cast<unsigned long long>(runs), static_cast<unsigned long long>(failures),
        static_cast<unsigned long long>(steps), static_cast<unsigned long long>(holds),
        static_cast<unsigned long long>(passes), static_cast<unsigned long long>(losses));
    return failures == 0 ? 0 : 1;
}
