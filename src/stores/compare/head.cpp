#include "stores/compare/head.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "stores/compare/fields.hpp"

namespace holdfast::stores::compare {

namespace {

constexpr std::string_view layout_version = "1";

std::uint64_t micros(seam::store_time time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

seam::store_time at(std::uint64_t micros) {
    return seam::store_time{seam::store_clock::duration{static_cast<std::int64_t>(micros)}};
}

constexpr std::uint64_t latest = INT64_MAX;

void write_due(field_writer& out, due end) {
    if (end.session != session_id{})
        out.word("s" + base::hex(static_cast<std::uint64_t>(end.session)));
    else if (end.at != seam::store_time{})
        out.word("t" + std::to_string(micros(end.at)));
    else
        out.word("-");
}

due read_due(field_reader& in) {
    auto const word = in.word();
    if (word == "-") return {};
    auto const kind = word.front();
    auto const value = word.substr(1);
    if (kind == 't')
        if (auto const time = base::parse_number(value, latest)) return {.at = at(*time)};
    if (kind == 's')
        if (auto const id = base::parse_hex(value)) return {.session = session_id{*id}};
    raise_malformed();
}

void write_sequence(field_writer& out, seam::sequence number) {
    if (!is_symbolic(number)) {
        out.number(static_cast<std::uint64_t>(number));
        return;
    }
    auto const index = static_cast<std::uint32_t>(static_cast<std::uint64_t>(number));
    out.word("+" + std::to_string(index));
}

seam::sequence read_sequence(field_reader& in, stamp written) {
    auto word = in.word();
    bool const relative = word.front() == '+';
    if (relative) word.remove_prefix(1);
    auto const value = base::parse_number(word, relative ? sequences_per_step - 1 : latest);
    if (!value) raise_malformed();
    return relative ? resolved(symbolic(static_cast<std::uint32_t>(*value)), written)
                    : seam::sequence{*value};
}

seam::claim_id read_claim(field_reader& in) {
    auto const id = seam::parse_claim_id(in.word());
    if (!id) raise_malformed();
    return *id;
}

std::string flags_of(claim_record const& claim) {
    std::string out;
    if (claim.kept) out += 'k';
    if (claim.subject.spec->joins) out += 'j';
    if (claim.subject.spec->order == ordering::fair) out += 'f';
    return out.empty() ? "-" : out;
}

// What a holder and a waiter have in common.
void write_claim(field_writer& out, claim_record const& claim, moment when) {
    auto const& spec = *claim.subject.spec;
    out.number(static_cast<std::uint64_t>(claim.mode)).number(claim.permits);
    out.number(spec.limit).word(flags_of(claim));
    out.number(static_cast<std::uint64_t>(spec.lease.count()));
    out.number(micros(claim.since + (when.shown - when.now))).hex(claim.secret);
    out.number(static_cast<std::uint64_t>(claim.subject.actor));
    out.text(spec.owner.get()).text(spec.label.get()).text(spec.value.get());
}

template <class Enum>
Enum read_enum(field_reader& in, Enum last) {
    return static_cast<Enum>(in.number(static_cast<std::uint64_t>(last)));
}

claim_record read_claim(field_reader& in, name_key const& key, lock_kind kind, moment when) {
    constexpr std::uint64_t longest_lease = std::uint64_t{1000} * 86'400 * 366 * 100;
    auto spec = std::make_shared<seam::claim_spec>();
    claim_record out;
    spec->name = key.name;
    spec->hash = std::hash<std::string>{}(key.name);
    spec->kind = kind;
    spec->mode = out.mode = read_enum(in, claim_mode::permits);
    spec->permits = out.permits = static_cast<std::uint32_t>(in.number(UINT32_MAX));
    spec->limit = static_cast<std::uint32_t>(in.number(UINT32_MAX));
    for (char const flag : in.word()) {
        if (flag == 'k') out.kept = true;
        if (flag == 'j') spec->joins = true;
        if (flag == 'f') spec->order = ordering::fair;
    }
    spec->lease = std::chrono::milliseconds{in.number(longest_lease)};
    out.since = at(in.number(latest)) - (when.shown - when.now);
    out.secret = in.hex();
    out.subject.actor = seam::actor_id{in.number()};
    spec->owner = in.text();
    spec->label = in.text();
    spec->value = in.text();
    out.subject.spec = std::move(spec);
    return out;
}

void write_cell(field_writer& out, std::string const& part, cell_state const& cell) {
    out.word("c").text(part);
    write_sequence(out, seam::sequence{cell.version});
    out.word(seam::to_string(cell.operation));
    write_due(out, cell.end);
    out.text(cell.value).end_line();
}

void read_cell(field_reader& in, head_state& out, stamp written) {
    auto part = in.text();
    cell_state cell;
    cell.version = static_cast<std::uint64_t>(read_sequence(in, written));
    cell.operation = read_claim(in);
    cell.end = read_due(in);
    cell.value = in.text();
    out.cells.emplace(std::move(part), std::move(cell));
}

void read_holder(field_reader& in, name_key const& key, head_state& out, stamp written,
                 moment when) {
    auto const id = read_claim(in);
    auto const session = session_id{in.hex()};
    auto const number = read_sequence(in, written);
    auto const end = read_due(in);
    auto& made = out.holders.emplace_back(read_claim(in, key, out.record.kind, when));
    made.subject.id = id;
    made.session = session;
    made.number = number;
    made.end = end;
    made.held = true;
}

}  // namespace

std::string write_head(head_state const& head, moment when) {
    field_writer out;
    out.word(layout_version).number(static_cast<std::uint64_t>(head.record.kind));
    out.number(head.record.declared).number(head.record.current);
    write_due(out, head.limit_kept);
    out.end_line();
    for (auto const& holder : head.holders) {
        out.word("h").word(seam::to_string(holder.subject.id));
        out.hex(static_cast<std::uint64_t>(holder.session));
        write_sequence(out, holder.number);
        write_due(out, holder.end);
        write_claim(out, holder, when);
        out.end_line();
    }
    for (auto const& [part, cell] : head.cells)
        write_cell(out, part, cell);
    return std::move(out).take();
}

head_state read_head(name_key const& key, std::string_view body, stamp written, moment when) {
    field_reader in{body};
    head_state out;
    out.record.name = key.name;
    if (!in.next_line() || in.word() != layout_version) raise_malformed();
    out.record.kind = read_enum(in, lock_kind::election);
    out.record.declared = static_cast<std::uint32_t>(in.number(UINT32_MAX));
    out.record.current = static_cast<std::uint32_t>(in.number(UINT32_MAX));
    out.limit_kept = read_due(in);
    while (in.next_line()) {
        auto const tag = in.word();
        if (tag == "h")
            read_holder(in, key, out, written, when);
        else if (tag == "c")
            read_cell(in, out, written);
        else
            raise_malformed();
    }
    return out;
}

std::string write_waiter(claim_record const& waiter, moment when) {
    field_writer out;
    out.word(layout_version).number(static_cast<std::uint64_t>(waiter.subject.spec->kind));
    write_claim(out, waiter, when);
    return std::move(out).take();
}

claim_record read_waiter(name_key const& key, line_item const& item, moment when) {
    field_reader in{item.body};
    if (!in.next_line() || in.word() != layout_version) raise_malformed();
    auto const kind = read_enum(in, lock_kind::election);
    auto out = read_claim(in, key, kind, when);
    out.subject.id = item.id;
    out.session = item.session;
    out.place = item.place;
    out.stored = true;
    return out;
}

std::vector<session_id> sessions_of(head_state const& head) {
    std::vector<session_id> out;
    auto const add = [&](session_id id) {
        if (id != session_id{}) out.push_back(id);
    };
    add(head.limit_kept.session);
    for (auto const& holder : head.holders)
        add(holder.kept ? holder.end.session : holder.session);
    for (auto const& [part, cell] : head.cells)
        add(cell.end.session);
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace holdfast::stores::compare
