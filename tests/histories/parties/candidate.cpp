// Stands for election, leads for a while, resigns; asks and hears who leads.
#include <holdfast/election.hpp>

#include "histories/party.hpp"

namespace holdfast::histories {

namespace {

class candidate final : public party {
public:
    candidate(surroundings const& around, identity who)
        : party{around, who},
          race_{around.client, election_name, {.lease = 800ms}},
          observer_{record_.new_call()} {}

private:
    void step() override {
        rest(0ms, 30ms);
        if (random_.once_in(40)) ears_ = {};
        if (random_.once_in(4)) observe();
        if (random_.once_in(2)) ask();
        run_for_it();
    }

    void observe() {
        ears_ = {};
        // Each observer is a new one: its order is its own.
        observer_ = record_.new_call();
        ears_ = race_.observe([this, observer = observer_](auto const& leads) {
            tell(kind::heard, boot_time(), leads ? leads->token : 0, observer);
        });
    }

    void ask() {
        auto const before = boot_time();
        auto const leads = race_.leader();
        tell(kind::saw_leader, before, leads ? leads->token : 0, 0);
    }

    void tell(kind what, instant before, std::uint64_t token, std::uint64_t observer) {
        event one;
        one.kind = what;
        one.before = before;
        one.after = boot_time();
        one.token = token;
        one.call = observer;
        one.set_name(election_name);
        record_.append(one);
    }

    void run_for_it() {
        auto hold = begin({std::string{election_name}});
        hold.asked();
        std::optional<lease> term;
        try {
            if (random_.once_in(3)) {
                canceller const cancel{random_.between(0ms, 500ms)};
                term = race_.campaign("somebody", cancel.token());
            } else {
                term = race_.campaign("somebody");
            }
        } catch (std::exception const& error) {
            hold.refused(error.what());
            throw;
        }
        if (!term) return hold.refused("stopped");
        hold.granted([&](std::string const&) { return term->token(); });
        lead(hold, *term);
    }

    void lead(visit& hold, lease& term) {
        auto const view = hold_view::of(term);
        if (hold.enter(view)) {
            rest(0ms, random_.once_in(30) ? 1200ms : 40ms);
            hold.leave(view, !random_.once_in(4));
        }
        hold.releasing(view);
        hold.released(outcome_of(random_.once_in(2) ? race_.resign() : term.release()));
    }

    election race_;
    std::uint64_t observer_;
    subscription ears_;
};

}  // namespace

std::unique_ptr<party> make_candidate(surroundings const& around, identity who) {
    return std::make_unique<candidate>(around, who);
}

}  // namespace holdfast::histories
