// The witness: what the store has done, written down from its answers alone. It shares no code with
// the store, so a fault of the store's rules cannot hide in it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "seam/reply.hpp"
#include "simulation/holds.hpp"
#include "stores/lease/rules.hpp"

namespace holdfast::simulation {

class world;

class witness {
public:
    explicit witness(world& where) : world_{where} {}

    void saw(seam::request const& asked, seam::reply const& answer,
             std::vector<stores::lease::directed_notice> const& notices);
    /// The session of a claim was heard of: it lasts until then.
    void extended(seam::claim_id id, seam::store_time until);
    /// It has ended, and the claim with it.
    void ended_with_session(seam::claim_id id, store_end how,
                            std::vector<stores::lease::directed_notice> const& notices);
    /// The store began anew and knows nothing.
    void forget_all();

    // What was found in a store that compares, whose clients carry out the requests themselves.
    void granted(seam::claim_id id, seam::spec_ptr spec, seam::sequence number,
                 seam::store_time until, bool from_line);
    void ended(seam::claim_id id, store_end how) { end(id, how); }
    void kept(seam::claim_id id, seam::store_time until);
    void converted(seam::claim_id id, seam::spec_ptr spec);
    void queued(std::string const& name, seam::claim_id id, seam::spec_ptr spec,
                seam::store_time until);
    void left(seam::claim_id id) { leave_line(id); }
    void limited(std::string const& name, std::optional<std::uint32_t> limit);
    void gave_up(seam::claim_id id) { given_up_.insert(id); }

    [[nodiscard]] store_hold const* hold(seam::claim_id id) const;
    /// The unexpired holds of a name at a time of the store.
    [[nodiscard]] std::vector<store_hold const*> holders(std::string const& name,
                                                         seam::store_time now) const;
    [[nodiscard]] std::vector<store_wait> const& line(std::string const& name) const;
    [[nodiscard]] bool waiting(seam::claim_id id) const;
    /// Whether the store was told that nobody wants the claim any more.
    [[nodiscard]] bool given_up(seam::claim_id id) const { return given_up_.contains(id); }
    /// The limit in force of a semaphore; as declared unless it was changed.
    [[nodiscard]] std::uint32_t limit(seam::claim_spec const& spec) const;
    /// How a claim of earlier times ended.
    [[nodiscard]] std::vector<store_end> const& ends(seam::claim_id id) const;

private:
    void saw_notices(seam::settle const* settle, seam::reply const& answer,
                     std::vector<stores::lease::directed_notice> const& notices);
    void on_submit(seam::submit const& asked, seam::reply const& answer);
    void on_renew(seam::renew const& asked, seam::reply const& answer);
    void on_settled(seam::claim const& subject, std::chrono::milliseconds keep_for,
                    seam::store_time now);
    void on_notice(seam::notice const& what, seam::store_time now);
    void on_convert(seam::convert const& asked, seam::reply const& answer);
    void begin(seam::claim_id id, seam::spec_ptr spec, seam::grant const& grant, bool from_line);
    void recall_for(seam::claim_id id, seam::claim_spec const& spec);
    void end(seam::claim_id id, store_end how);
    store_wait* find_wait(seam::claim_id id);
    void leave_line(seam::claim_id id);

    world& world_;
    std::map<seam::claim_id, store_hold> holds_;
    std::map<std::string, std::vector<store_wait>> lines_;
    std::map<seam::claim_id, std::vector<store_end>> ends_;
    std::set<seam::claim_id> given_up_;
    std::map<std::string, std::uint32_t> limits_;
};

}  // namespace holdfast::simulation
