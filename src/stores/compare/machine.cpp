#include "stores/compare/machine.hpp"

#include <memory>
#include <utility>

namespace holdfast::stores::compare {

namespace {

// What nobody asks for any more goes in passing: a few names for so many requests.
constexpr std::uint64_t requests_per_sweep = 256;

name_key key_of(seam::claim_spec const& spec) {
    return {spec.name, spec.kind == lock_kind::condition};
}

name_key key_of(seam::cell_key const& cell) {
    return {cell.name, cell.kind == lock_kind::condition};
}

}  // namespace

machine::machine(driver& to, environment around)
    : client_{to, std::move(around), [this](session_id which) { lose(which); }} {}

void machine::take(seam::request_id id, seam::request const& what) {
    std::visit([&](auto const& verb) { begin(id, verb); }, what);
    if (++taken_ % requests_per_sweep == 0) many_.sweep();
    plan_look(true);
}

void machine::answer(seam::request_id id, seam::reply_body body) {
    auto const when = client_.time.last();
    client_.out.replies.emplace_back(
        id, seam::reply{.now = when.now, .body = std::move(body), .clock = when.clock});
}

void machine::work_on(seam::request_id id, name_key key, seam::request what) {
    auto op = std::make_shared<name_operation>();
    op->key = std::move(key);
    op->what = std::move(what);
    op->secret = client_.around.entropy();
    op->done = [this, id](seam::reply_body body) { answer(id, std::move(body)); };
    if (auto const* const subject = subject_of(*op->what)) {
        op->tombstone = is_tombstoned(subject->id);
        if (auto const* const claim = client_.claims.find(subject->id)) op->secret = claim->secret;
    }
    work_.begin(std::move(op));
}

// --- requests on one name ----------------------------------------------------------------------------

void machine::begin(seam::request_id id, seam::submit const& what) {
    // The time was computed for another server than the one that answers now.
    auto const known = client_.time.last().clock;
    if (what.clock != known && known != seam::clock_id{})
        return answer(id, seam::failure{{errc::store_unavailable,
                                         "another server answers now: it is asked anew"}});
    work_on(id, key_of(*what.subject.spec), what);
}

// What is given up is remembered here: only this client could send it again.
void machine::begin(seam::request_id id, seam::settle const& what) {
    auto const now = client_.time.last().now;
    std::erase_if(client_.tombstones, [&](auto const& each) { return each.second < now; });
    if (what.tombstone_until > now) {
        auto& until = client_.tombstones[what.subject.id];
        until = std::max(until, what.tombstone_until);
    }
    work_on(id, key_of(*what.subject.spec), what);
}

bool machine::is_tombstoned(seam::claim_id id) {
    auto const known = client_.tombstones.find(id);
    return known != client_.tombstones.end() && known->second >= client_.time.last().now;
}

void machine::begin(seam::request_id id, seam::convert const& what) {
    work_on(id, key_of(*what.subject.spec), what);
}

void machine::begin(seam::request_id id, seam::adjust const& what) {
    work_on(id, key_of(*what.subject.spec), what);
}

void machine::begin(seam::request_id id, seam::read const& what) {
    many_.read(what, [this, id](seam::reply_body body) { answer(id, std::move(body)); });
}

void machine::begin(seam::request_id id, seam::swap const& what) {
    work_on(id, key_of(what.key), what);
}

// --- requests on several -----------------------------------------------------------------------------

void machine::begin(seam::request_id id, seam::hello const&) {
    many_.fetch({}, [this, id](std::vector<view>* seen, base::error const& why) {
        answer(id, seen == nullptr ? seam::reply_body{seam::failure{why}} : seam::done{});
    });
}

void machine::begin(seam::request_id id, seam::renew const& what) {
    many_.renew(what, [this, id](seam::reply_body body) { answer(id, std::move(body)); });
}

void machine::begin(seam::request_id id, seam::inspect const& what) {
    many_.inspect(what, [this, id](seam::reply_body body) { answer(id, std::move(body)); });
}

void machine::begin(seam::request_id id, seam::evict const& what) {
    evictions_.begin(what, [this, id](seam::reply_body body) { answer(id, std::move(body)); });
}

void machine::begin(seam::request_id id, seam::watch const& what) {
    auto const key = key_of(what.key);
    watches_[key].keys.insert(what.key);
    auto const which = client_.calls.add([this, id](outcome&& found) {
        if (!std::holds_alternative<in_force>(found))
            return answer(id, seam::failure{error_of(found)});
        answer(id, seam::done{});
    });
    client_.to.watch(which, key);
}

void machine::begin(seam::request_id id, seam::unwatch const& what) {
    auto const key = key_of(what.key);
    if (auto const known = watches_.find(key); known != watches_.end()) {
        known->second.keys.erase(what.key);
        if (known->second.keys.empty()) {
            watches_.erase(known);
            client_.to.unwatch(key);
        }
    }
    // The engine takes a reply's time for one that was read after the request was sent. An older one would prolong
    // every hold whose grant is told late: so the store is asked for nothing but its time.
    begin(id, seam::hello{});
}

void machine::close() noexcept {
    client_.sessions.close([this](session_id id) { return !client_.claims.lives_with(id); });
}

}  // namespace holdfast::stores::compare
