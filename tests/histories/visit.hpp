// visit: one hold from the call for it to its end, written down, with what is done under it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/lease.hpp>
#include <holdfast/mutex.hpp>

#include "histories/fenced_register.hpp"
#include "histories/history.hpp"
#include "histories/recorder.hpp"

namespace holdfast::histories {

/// What is asked of a hold, whichever form it has.
struct hold_view {
    std::function<bool()> held;
    std::function<instant()> remaining;  ///< in ns; 0 where the form cannot tell
    std::function<bool()> told;          ///< whether lost() has fired

    [[nodiscard]] static hold_view of(lease const& held);
    /// The calling thread's hold.
    [[nodiscard]] static hold_view of(basic_mutex const& held);
};

/// The order is: `asked`, then `granted` or `refused`; `enter`, `look` as often as one likes, `leave`;
/// `releasing`, `released`. Not thread-safe.
class visit {
public:
    visit(recorder& record, archive const& files, plan const& plan, std::vector<std::string> names,
          mode how, std::int64_t permits = 1);

    void asked();
    /// `token` gives that of each name.
    void granted(std::function<std::uint64_t(std::string const&)> const& token);
    void refused(std::string_view why);

    /// Reads the registers. False when the hold is no more: then nothing may be done under it.
    [[nodiscard]] bool enter(hold_view const& held);
    /// Whether it is still held.
    [[nodiscard]] bool look(hold_view const& held);
    /// Writes the registers, one more than was read, or reads them again under a shared hold. Before each
    /// it looks whether it is still held, unless that is left to the register.
    void leave(hold_view const& held, bool looks = true);

    /// Writes one register by itself; what `enter` read is `values()`.
    [[nodiscard]] bool write(std::int64_t value);
    [[nodiscard]] std::int64_t value() const { return values_.front(); }

    /// The hold is made a shared one: before and after.
    void weakening();
    void weakened();

    void releasing(hold_view const& held);
    void released(outcome said);

private:
    [[nodiscard]] event make(kind of, std::size_t name) const;
    void contradiction(char const* what);
    void append_all(kind of, instant before, instant after, std::int64_t number);
    [[nodiscard]] register_user user(std::size_t name) const;
    [[nodiscard]] fenced_register register_of(std::size_t name) const;
    [[nodiscard]] bool has_registers() const { return mode_ != mode::permits; }

    recorder& record_;
    archive const& files_;
    plan const& plan_;
    std::vector<std::string> names_;
    mode mode_;
    std::int64_t permits_;
    std::uint64_t call_;
    instant asked_{0};
    instant release_began_{0};
    std::vector<std::uint64_t> tokens_{};
    std::vector<std::int64_t> values_{};
};

[[nodiscard]] outcome outcome_of(release_outcome said);

}  // namespace holdfast::histories
