#include <set>
#include <string>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

// Whoever collects has a label of its own on all of its claims.
class together final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "together"; }

    void sent(client const&, seam::request const& what) override {
        if (auto const* const settle = std::get_if<seam::settle>(&what))
            let_go_.insert(settle->subject.id);
        if (auto const* const submit = std::get_if<seam::submit>(&what); submit && submit->queue)
            refuse_hold(submit->subject, "", true);
    }

    // Where messages keep their order, nobody who looks at the store sees it either.
    void carried_out(seam::request const& asked, seam::reply const& answer) override {
        auto const* const submit = std::get_if<seam::submit>(&asked);
        // Where the rules run in the clients, names are worked on beside each other.
        bool const in_order =
            here().plan.only_deaths() && !here().plan.reorder && !here().plan.compares();
        if (submit != nullptr && in_order && std::holds_alternative<seam::queued>(answer.body))
            refuse_hold(submit->subject, " at the store", false);
    }

private:
    void refuse_hold(seam::claim const& wanted, std::string const& where, bool unless_let_go) {
        // What is put aside in the same process is held by nobody, but the store cannot tell.
        if (wanted.spec->label.empty() || here().plan.in_process) return;
        for (std::size_t i = 0; i < here().plan.names; ++i) {
            auto const name = "lock/" + std::to_string(i);
            for (auto const* const each : here().seen.holders(name, here().store.now())) {
                bool const its = each->id.client == wanted.id.client && each->id != wanted.id &&
                                 each->spec->label == wanted.spec->label && !each->kept;
                if (its && !(unless_let_go && let_go_.contains(each->id)))
                    fail(wanted.spec->label.get() + " waits for '" + wanted.name() +
                         "' while it holds '" + name + "'" + where);
            }
        }
    }

    std::set<seam::claim_id> let_go_;
};

}  // namespace

checker_ptr make_together(world& where) { return std::make_unique<together>(where); }

}  // namespace holdfast::simulation
