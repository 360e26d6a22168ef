#include <optional>
#include <utility>

#include <holdfast/client.hpp>

#include "api/session.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "core/barrier.hpp"
#include "core/latch.hpp"
#include "runtime/loader.hpp"

namespace holdfast {
inline namespace v1 {

namespace {

// A name with what the cell of its synchronizer says; nothing when that was deleted. A cell that is not ours is left
// unread.
std::optional<lock_info> described(seam::listed&& name) {
    lock_info out{std::move(name)};
    if (name.cell.empty()) return out;
    try {
        if (out.kind == lock_kind::latch) {
            auto const state = core::latch_state::parse(name.cell, out.name);
            out.limit = state.declared;
            out.count = state.left;
            if (state.deleted) return std::nullopt;
        } else if (out.kind == lock_kind::barrier) {
            auto const state = core::barrier_state::parse(name.cell, out.name);
            out.limit = state.parties;
            out.count = state.arrived.size();
            out.generation = state.generation;
            out.broken = state.broken;
        }
    } catch (std::system_error const&) {
        return out;
    }
    return out;
}

}  // namespace

client::client(std::string_view url, client_options options)
    : session_{std::make_shared<detail::session>(url, std::move(options))} {}

void client::ping() { (void)session_->ask(seam::hello{}); }

std::vector<lock_info> client::locks(std::string_view prefix) {
    std::vector<lock_info> out;
    seam::inspect request{std::string{prefix}};
    do {
        auto answer = session_->ask(request);
        auto& page = std::get<seam::page>(answer.body);
        for (auto& name : page.names)
            if (auto info = described(std::move(name))) out.push_back(*std::move(info));
        request.after = std::move(page.next);
    } while (!request.after.empty());
    session_->add_local_waiters(out);
    return out;
}

std::size_t client::evict(std::string_view name, evict_options options) {
    if (auto const fault = base::name_fault(name)) base::raise(errc::bad_name, *fault);
    seam::evict request{std::string{name}, {}, options.force};
    if (!options.claim.empty()) {
        request.only = seam::parse_claim_id(options.claim);
        if (!request.only)
            base::raise(errc::bad_option, "'" + options.claim + "' is not the id of a claim");
    }
    auto const answer = session_->ask(std::move(request));
    return std::get<seam::evicted>(answer.body).count;
}

std::map<std::string, std::uint64_t> client::metrics() const {
    session_->require_usable();
    return session_->loop().counters().by_name();
}

void client::close() {
    session_->require_usable();
    session_->close();
}

std::string client::url() const { return session_->url(); }

std::shared_ptr<detail::session> const& client::shared_state() const noexcept { return session_; }

std::string store_schema(std::string_view url) {
    auto const parsed = base::url::parse(url);
    auto const& module = runtime::find_store(parsed.scheme);
    return module.schema == nullptr ? std::string{} : module.schema(parsed);
}

}  // namespace v1
}  // namespace holdfast
