#include "stores/redis/native_layout.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "stores/redis/claim_record.hpp"
#include "stores/redis/replies.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

namespace {

bool is_condition(seam::claim_spec const& spec) noexcept {
    return spec.kind == lock_kind::condition;
}

std::int64_t microseconds(seam::store_time when) noexcept {
    return std::max<std::int64_t>(0, when.time_since_epoch().count());
}

template <class Enumeration>
unsigned raw(Enumeration value) noexcept {
    return static_cast<unsigned>(value);
}

/// Whether a claim may wait, as the scripts want it.
enum class queueing { no, unlisted, listed };

/// A claim whose owner is known, by name or by its thread, is found by those who look for deadlocks.
queueing way_of(seam::claim const& claim) noexcept {
    bool const owned = !claim.spec->owner.empty() || claim.actor != seam::actor_id{};
    return owned ? queueing::listed : queueing::unlisted;
}

}  // namespace

native_layout::native_layout(std::string prefix, seam::identity const& self, claim_secrets secrets,
                             std::shared_ptr<slot_map const> slots)
    : keys_{std::move(prefix)},
      client_{base::hex(static_cast<std::uint64_t>(self.id))},
      label_{self.label},
      id_{self.id},
      secrets_{secrets},
      slots_{std::move(slots)} {
    append_netstring(host_and_pid_, self.host);
    append_netstring(host_and_pid_, std::to_string(self.pid));
}

std::unique_ptr<layout> make_native_layout(settings const& wanted, seam::identity const& self,
                                           std::shared_ptr<slot_map const> slots) {
    return std::make_unique<native_layout>(wanted.prefix, self, claim_secrets{}, std::move(slots));
}

std::unique_ptr<exchange> native_layout::begin(seam::request what) const {
    return std::visit([this](auto& verb) { return apply(std::move(verb)); }, what);
}

command native_layout::call(script const& what, std::string_view name, bool condition) const {
    auto out = call_on(what, keys_.record(name, condition), name);
    out.concerns(std::hash<std::string_view>{}(name));
    return out;
}

command native_layout::call_on(script const& what, std::string_view record,
                               std::string_view name) const {
    auto out = call_unnamed(what, record);
    out << name;
    return out;
}

command native_layout::call_unnamed(script const& what, std::string_view record,
                                    seam::sequence ballot) const {
    bool const votes = ballot != seam::sequence{};
    command out{what, common_keys + group_size + (votes ? ballot_keys : 0)};
    if (slots_) out.to.slot = redis::slot_of(keys_.tag_in(record));
    out.piece.mark_at = out.end();
    keys_.append_mark(out, out.to.slot);
    out.piece.record_at = out.end();
    out << record;
    out.piece.record_end = out.end();
    append_companions(out, record);
    keys_.append_waited(out, out.to.slot);
    if (votes) keys_.append_ballots(out, record, out.to.slot);
    out.append_with_clock(keys_.prefix());
    return out;
}

// --- claims ------------------------------------------------------------------------------------

std::string native_layout::tail_of(seam::claim const& wanted) const {
    auto const& spec = *wanted.spec;
    auto const& label = spec.label.empty() ? label_ : spec.label.get();
    constexpr std::size_t numbers = 48;  // lengths, and the actor
    auto out = record_tail(wanted, spec.owner.get().size() + label.size() + host_and_pid_.size() +
                                       spec.value.get().size() + numbers);
    append_netstring(out, spec.owner.get());
    append_netstring(out, label);
    out += host_and_pid_;
    append_netstring(out, std::to_string(static_cast<std::uint64_t>(wanted.actor)));
    append_netstring(out, spec.value.get());
    return out;
}

// Whether the claim may wait, and the secret that proves its grant then.
void native_layout::append_queueing(command& to, seam::claim const& wanted, bool queue) const {
    if (!queue) {
        to << raw(queueing::no);
        return;
    }
    auto const secret = secrets_.of(wanted.id);
    to.append(way_of(wanted) == queueing::listed ? "2" : "1", {secret.data(), secret.size()});
}

std::unique_ptr<exchange> native_layout::apply(seam::hello what) const {
    command out{"TIME"};
    out.to.lane = what.lane;
    return ask(std::move(out), read_server_time);
}

std::unique_ptr<exchange> native_layout::apply(seam::submit what) const {
    auto const& wanted = what.subject;
    bool const condition = is_condition(*wanted.spec);
    bool const votes = what.ballot != seam::sequence{};
    auto out = call_unnamed(scripts::submit, keys_.record(wanted.name(), condition), what.ballot);
    out.begin_terms();
    out << record_head{wanted} << tail_of(wanted) << record_lifetime(wanted.spec->lease)
        << microseconds(what.not_after);
    out.end_terms(4, wanted.spec->hash);
    append_queueing(out, wanted, what.queue && !votes);
    if (votes) out << static_cast<std::uint64_t>(what.ballot) << (what.repairs ? 1 : 0);
    if (condition && !votes) out << std::string_view{};  // which admits nobody by itself
    if (condition || votes) out.piece.gathers = false;
    out.only_for = what.clock;
    return ask(std::move(out), [spec = wanted.spec](answer_reader& in) -> seam::reply {
        if (auto const now = read_usual(in)) return {*now, seam::granted{grant_of(*now)}};
        auto const head = read_head(in);
        if (head.word == "granted") return {head.now, seam::granted{read_grant(in)}};
        if (head.word == lone_word) return {head.now, seam::granted{read_lone_grant(in, head.now)}};
        if (head.word == "queued") return {head.now, seam::queued{read_span(in)}};
        if (head.word != "refused") unknown_word(head.word);
        return {head.now, read_refused(in, spec.get())};
    });
}

std::unique_ptr<exchange> native_layout::apply(seam::settle what) const {
    auto const& ended = what.subject;
    auto out = call_on(scripts::settle, keys_.record(ended.name(), is_condition(*ended.spec)),
                       ended.name());
    out.begin_terms();
    out << seam::claim_words{ended.id};
    out.end_terms(1, ended.spec->hash);
    out.piece.ends = true;
    auto const keep_for = what.keep_for.count();
    auto const tombstone_until = microseconds(what.tombstone_until);
    if (keep_for != 0 || tombstone_until != 0 || what.consume) {
        out << keep_for << tombstone_until << (what.consume ? 1 : 0);
        out.piece.gathers = false;
    }
    out.only_for = what.clock;
    return ask(std::move(out), read_settled);
}

std::unique_ptr<exchange> native_layout::apply(seam::renew what) const {
    constexpr std::size_t most_at_once = 100;
    std::vector<renew_exchange::group> groups;
    std::unordered_map<std::string_view, std::size_t> places[2];  // the open group of each name
    for (std::size_t i = 0; i < what.items.size(); ++i) {
        auto const& spec = *what.items[i].subject.spec;
        auto const [found, fresh] =
            places[is_condition(spec)].try_emplace(spec.name, groups.size());
        if (fresh || groups[found->second].size() >= most_at_once) {
            found->second = groups.size();
            groups.emplace_back();
        }
        groups[found->second].push_back(i);
    }
    auto const count = what.items.size();
    return std::make_unique<renew_exchange>(
        count, std::move(groups),
        [this, items = std::move(what.items)](renew_exchange::group const& those) {
            auto const& spec = *items[those.front()].subject.spec;
            // It must not wait for others, and changes nothing for them.
            auto out =
                call_on(scripts::renew, keys_.record(spec.name, is_condition(spec)), spec.name);
            for (auto const place : those)
                out << seam::claim_words{items[place].subject.id} << items[place].lease.count();
            return out;
        });
}

std::unique_ptr<exchange> native_layout::apply(seam::convert what) const {
    auto const& spec = *what.subject.spec;
    auto out = call(scripts::convert, spec.name, is_condition(spec));
    out << seam::claim_words{what.subject.id} << raw(what.mode) << what.permits;
    return ask(std::move(out), [](answer_reader& in) -> seam::reply {
        auto const head = read_head(in);
        if (head.word == "converted") return {head.now, seam::converted{read_grant(in)}};
        if (head.word != "refused") unknown_word(head.word);
        return {head.now, read_refused(in, nullptr)};
    });
}

std::unique_ptr<exchange> native_layout::apply(seam::adjust what) const {
    auto const& spec = *what.subject.spec;
    auto out = call(scripts::adjust, spec.name, is_condition(spec));
    out << raw(spec.kind) << raw(spec.mode) << spec.limit;
    if (what.current) {
        out << *what.current;
    } else {
        out << std::string_view{};
    }
    out << what.wake;
    return ask(std::move(out), [known = what.subject.spec](answer_reader& in) -> seam::reply {
        auto const head = read_head(in);
        if (head.word == "refused") return {head.now, read_refused(in, known.get())};
        if (head.word != "adjusted") unknown_word(head.word);
        seam::adjusted limits;
        limits.declared = read_count(in);
        limits.current = read_count(in);
        limits.used = read_count(in);
        return {head.now, limits};
    });
}

// --- cells -------------------------------------------------------------------------------------

namespace {

seam::cell read_cell(answer_reader& in) {
    seam::cell out;
    out.version = in.number(largest_number);
    out.value = in.text();
    return out;
}

}  // namespace

std::unique_ptr<exchange> native_layout::apply(seam::read what) const {
    auto const& key = what.key;
    auto out = call(scripts::read, key.name, key.kind == lock_kind::condition);
    out << raw(key.kind) << key.part;
    return ask(std::move(out), [](answer_reader& in) -> seam::reply {
        auto const head = read_head(in);
        if (head.word != "cell") unknown_word(head.word);
        return {head.now, read_cell(in)};
    });
}

std::unique_ptr<exchange> native_layout::apply(seam::swap what) const {
    auto const& key = what.key;
    auto out = call(scripts::swap, key.name, key.kind == lock_kind::condition);
    out << raw(key.kind) << key.part << what.expected << what.value << what.ttl.count()
        << seam::to_string(what.operation) << (what.remove ? 1 : 0)
        << (what.guard ? seam::to_string(what.guard->id) : std::string{}) << (what.quiet ? 1 : 0);
    seam::claim_spec spec{.name = key.name, .kind = key.kind};
    return ask(std::move(out), [spec = std::move(spec)](answer_reader& in) -> seam::reply {
        auto const head = read_head(in);
        if (head.word == "swapped") return {head.now, seam::swapped{in.number(largest_number)}};
        if (head.word == "refused") return {head.now, read_refused(in, &spec)};
        if (head.word != "conflict") unknown_word(head.word);
        auto current = read_cell(in);
        return {head.now, seam::conflict{std::move(current), in.number(1) == 1}};
    });
}

std::unique_ptr<exchange> native_layout::set_watch(seam::cell_key const& key, bool on) const {
    auto out = call(scripts::watch, key.name, key.kind == lock_kind::condition);
    out << raw(key.kind) << key.part << client_ << (on ? 1 : 0);
    return ask(std::move(out), [](answer_reader& in) -> seam::reply {
        auto const head = read_head(in);
        if (head.word != "done") unknown_word(head.word);
        return {head.now, seam::done{}};
    });
}

std::unique_ptr<exchange> native_layout::apply(seam::watch what) const {
    return set_watch(what.key, true);
}

std::unique_ptr<exchange> native_layout::apply(seam::unwatch what) const {
    return set_watch(what.key, false);
}

std::unique_ptr<exchange> native_layout::apply(seam::inspect what) const {
    return list(*this, std::move(what));
}

std::unique_ptr<exchange> native_layout::apply(seam::evict what) const {
    auto out = std::make_unique<evict_exchange>();
    for (bool const condition : {false, true}) {
        auto one = call(scripts::evict, what.name, condition);
        one << (what.only ? seam::to_string(*what.only) : std::string{});
        out->outbox.push_back(std::move(one));
    }
    return out;
}

}  // namespace holdfast::stores::redis
