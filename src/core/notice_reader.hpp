// Notices: what is pushed is a hint, and what it says is checked.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"
#include "seam/notice.hpp"

namespace holdfast::core {

struct engine_parts;

/// What comes unasked may be late, doubled or lost.
///
/// Thread-safety: none; it belongs to the engine.
class notice_reader {
public:
    notice_reader(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    void on_notice(seam::notice const& what, base::instant now);

private:
    [[nodiscard]] claim_state* find_own(seam::claim_id id) const noexcept;
    void on_granted(claim_state& claim, seam::claim_granted const& told, base::instant now);
    void on_gone(claim_state& claim, std::string const& why, base::instant now);
    void on_contended(claim_state& claim, base::instant now);
    /// A hold that was put aside is looked after as one in use, or given back; true while there is something to tell of it.
    bool take_up(claim_state& claim, base::instant now);
    void on_changed(seam::cell_key const& key, base::instant now);
    void on_session(seam::session_changed const& what, base::instant now);
    [[nodiscard]] std::vector<claim_state*> concerned(seam::session_changed const& what) const;
    void on_session_end(claim_state& claim, std::string const& why, base::instant now);

    engine_parts& parts_;
    engine_context& shared_;
};

}  // namespace holdfast::core
