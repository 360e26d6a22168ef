// The world of one run: time, chance, the store, the clients, and those who watch them.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "simulation/checker.hpp"
#include "simulation/client.hpp"
#include "simulation/parties/board.hpp"
#include "simulation/party.hpp"
#include "simulation/profile.hpp"
#include "simulation/server.hpp"
#include "simulation/timeline.hpp"
#include "simulation/user.hpp"
#include "simulation/variant.hpp"
#include "simulation/witness.hpp"

namespace holdfast::simulation {

/// A broken promise: who saw it, when, and what it was.
struct failure {
    std::string checker;
    std::string words;
    moment when{};
};

/// What becomes of the words in which a run is told.
enum class trace_mode { none, printed, digested };

class world {
public:
    world(std::uint64_t seed, profile its_plan, variant its_variant = {},
          trace_mode trace = trace_mode::none);
    ~world();
    world(world const&) = delete;
    world& operator=(world const&) = delete;

    // In the order in which they may be used while the world is made.
    variant const broken;
    profile plan;
    timeline time{};
    base::random random;
    witness seen{*this};
    server store;
    std::vector<std::unique_ptr<checker>> checkers{};
    std::vector<std::unique_ptr<client>> clients{};
    std::uint64_t calls{0};
    parties_board board{};

    client& add_client();
    user& add_user(client& home, habit its);
    [[nodiscard]] client* find(seam::client_id id) noexcept;

    /// Runs until then, or until a promise is broken.
    void run_until(moment end);
    void run_for(moment span) { run_until(time.now() + span); }

    // --- chance ---

    [[nodiscard]] moment draw(moment most);  ///< uniform in [0, most)
    [[nodiscard]] std::chrono::milliseconds draw_ms(std::chrono::milliseconds most);
    [[nodiscard]] bool percent(unsigned chance) { return random.below(100) < chance; }
    /// Whether a fault with this chance in 10,000 happens now; never when faults are over.
    [[nodiscard]] bool strikes(unsigned chance) {
        return faults_on && chance > 0 && random.below(10'000) < chance;
    }
    bool faults_on{true};
    /// Nothing goes wrong any more, and what went wrong before is over.
    bool calm{false};

    // --- watching ---

    template <std::invocable<checker&> F>
    void tell(F&& what) {
        for (auto const& each : checkers)
            what(*each);
    }
    void report(event const& what) {
        tell([&](checker& it) { it.happened(what); });
    }
    void fail(std::string const& who, std::string words);
    [[nodiscard]] std::optional<failure> const& failed() const noexcept { return failed_; }

    void enter(std::shared_ptr<local_hold> const& hold);
    void leave(std::shared_ptr<local_hold> const& hold);
    void announce(core::hold_state const& lost);
    /// The store no longer stands by its word: from here on only the token protects.
    void forsake(seam::claim_id id);
    [[nodiscard]] bool forsaken(seam::claim_id id) const { return forsaken_.contains(id); }
    /// The holds in the hands of users, those that are lost but not let go included.
    [[nodiscard]] std::vector<std::shared_ptr<local_hold>> const& holds() const noexcept {
        return holds_;
    }
    /// Whether its user, looking at it now, would go on.
    [[nodiscard]] bool believed(local_hold const& hold) const;

    // --- the trace ---

    template <class F>
    void note(F&& words) {
        if (trace_ != trace_mode::none) tell_story(words());
    }
    /// Of everything that was noted so far, with its time.
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
    [[nodiscard]] std::string short_name(seam::claim_id id);
    [[nodiscard]] static std::string name_of(client const& it);
    [[nodiscard]] std::string words(core::engine::outgoing const& out);
    [[nodiscard]] std::string words(seam::request_id id, seam::reply const& reply);
    [[nodiscard]] std::string words(seam::notice const& what);

private:
    void tell_story(std::string const& words);

    trace_mode const trace_;
    std::uint64_t digest_{0};
    std::optional<failure> failed_;
    std::vector<std::shared_ptr<local_hold>> holds_;
    std::set<seam::claim_id> forsaken_;
};

}  // namespace holdfast::simulation
