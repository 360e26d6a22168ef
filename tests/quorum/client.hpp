// A client of a simulated quorum: the product's machine, and one user who takes names in turn.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "quorum/world.hpp"

namespace holdfast::quorum_tests {

/// Does what the engine does with a store without a line: asks again after a while, renews, believes in its hold until
/// the deadline that the first request of its last renewal gives.
class client {
public:
    client(world& home, std::size_t place);

    void start();
    void evict(std::string name);
    void on_reply(std::size_t member, seam::request_id id, seam::reply const& answer);
    void on_notice(std::size_t member, seam::notice const& what);
    [[nodiscard]] std::shared_ptr<seam::identity const> const& self() const noexcept {
        return self_;
    }
    /// How often it held since there were no more faults.
    [[nodiscard]] int served() const noexcept { return served_; }

private:
    enum class doing { resting, greeting, asking, waiting, holding, ending };

    [[nodiscard]] base::instant time() const;
    [[nodiscard]] nanos truth(base::instant when) const;
    void
    step();  ///< sends what the machine wants sent, takes what it has to tell, and sets its timer
    void ask(seam::request what);
    void on_answer(seam::reply const& answer);
    void greet();
    void want();
    void submit();
    void on_submitted(seam::reply const& answer);
    void on_renewed(seam::renewed const& answer);
    void hold(base::instant began, std::uint64_t number);
    void renew();
    void downgrade();
    void release();
    void settle();
    void lose();
    [[nodiscard]] promises::grant held() const;
    void rest();
    void later(nanos span, void (client::*what)());
    [[nodiscard]] base::instant deadline(base::instant began) const;

    world& home_;
    std::size_t place_;
    clock clock_;
    std::shared_ptr<seam::identity const> self_;
    stores::quorum::machine machine_;
    doing now_{doing::resting};
    std::uint64_t turn_{0};  ///< what was planned for an earlier one is void
    std::uint64_t last_request_{0};
    std::optional<seam::request_id> awaited_;
    std::set<seam::request_id>
        renewals_;  ///< of the hold, each of which counts when it is answered
    std::map<seam::request_id, std::string> evictions_;  ///< of which names
    std::uint64_t last_claim_{0};
    seam::claim wanted_{};
    base::instant until_{};       ///< the hold is believed in until then
    base::instant hold_until_{};  ///< and wanted until then
    bool shared_{false};          ///< from the beginning, or since
    std::uint64_t number_{0};
    std::chrono::milliseconds keep_for_{0};  ///< the name, after its release
    nanos kept_until_{0};                    ///< by the true time
    base::instant timer_{base::never};
    int tries_{0};
    int served_{0};
};

}  // namespace holdfast::quorum_tests
