#include "stores/compare/message.hpp"

#include <algorithm>
#include <utility>

#include "stores/compare/fields.hpp"

namespace holdfast::stores::compare {

namespace {

// So many of the line travel with a grant: one look at the line in as many hand-overs.
constexpr std::size_t next_waiters = 8;

void write_claim(field_writer& out, seam::claim_id id, std::uint64_t secret) {
    out.word(seam::to_string(id)).hex(secret);
}

std::string write_item(line_item const& item) {
    field_writer out;
    out.word("w").word(seam::to_string(item.id)).hex(static_cast<std::uint64_t>(item.session));
    out.number(item.place).text(item.body).end_line();
    return std::move(out).take();
}

std::string write_granted(granted_message const& what, std::size_t limit) {
    field_writer first;
    first.word("g");
    write_claim(first, what.id, what.secret);
    first.number(static_cast<std::uint32_t>(static_cast<std::uint64_t>(what.number)));
    first.number(is_symbolic(what.number) ? 1 : 0);
    if (!is_symbolic(what.number)) first.number(static_cast<std::uint64_t>(what.number));
    first.number(what.contended ? 1 : 0).end_line();
    auto out = std::move(first).take();

    field_writer head;
    head.word("b").text(what.after.key.name).number(what.after.key.condition ? 1 : 0);
    head.text(what.after.body).end_line();
    auto const body = std::move(head).take();
    if (out.size() + body.size() > limit) return out;
    out += body;
    auto const& line = what.after.line;
    std::size_t written = 0;
    for (; written < std::min(line.size(), next_waiters); ++written) {
        auto const item = write_item(line[written]);
        if (out.size() + item.size() + 2 > limit) break;
        out += item;
    }
    if (written < line.size() || what.after.more) out += "m\n";
    return out;
}

seam::claim_id read_id(field_reader& in) {
    auto const id = seam::parse_claim_id(in.word());
    if (!id) raise_malformed();
    return *id;
}

granted_message read_granted(field_reader& in, stamp written) {
    granted_message out;
    out.id = read_id(in);
    out.secret = in.hex();
    auto const index = static_cast<std::uint32_t>(in.number(UINT32_MAX));
    out.number = in.number(1) == 1 ? resolved(symbolic(index), written)
                                   : seam::sequence{in.number(INT64_MAX)};
    out.contended = in.number(1) == 1;
    return out;
}

// What follows a grant: the name as it was left.
void read_after(std::string_view tag, field_reader& in, view& after, stamp written) {
    if (tag == "b") {
        after.key.name = in.text();
        after.key.condition = in.number(1) == 1;
        after.body = in.text();
        after.written = written;
    } else if (tag == "w") {
        line_item item{.id = read_id(in), .session = session_id{in.hex()}};
        item.place = in.number();
        item.body = in.text();
        after.line.push_back(std::move(item));
    } else if (tag == "m") {
        after.more = true;
    } else {
        raise_malformed();
    }
}

struct writer {
    std::size_t limit;

    std::string operator()(granted_message const& what) const { return write_granted(what, limit); }
    std::string operator()(gone_message const& what) const {
        field_writer out;
        out.word("x");
        write_claim(out, what.id, what.secret);
        out.text(what.why).end_line();
        return std::move(out).take();
    }
    std::string operator()(contended_message const& what) const {
        field_writer out;
        out.word("c");
        write_claim(out, what.id, what.secret);
        out.end_line();
        return std::move(out).take();
    }
    std::string operator()(changed_message const& what) const {
        field_writer out;
        out.word("t").number(static_cast<std::uint64_t>(what.key.kind));
        out.text(what.key.name).text(what.key.part).end_line();
        return std::move(out).take();
    }
};

}  // namespace

std::string write_message(message const& what, std::size_t limit) {
    return std::visit(writer{limit}, what);
}

std::vector<message> read_messages(std::string_view body, stamp written) {
    std::vector<message> out;
    field_reader in{body};
    while (in.next_line()) {
        auto const tag = in.word();
        if (tag == "g") {
            out.emplace_back(read_granted(in, written));
        } else if (tag == "t") {
            changed_message changed;
            changed.key.kind =
                static_cast<lock_kind>(in.number(static_cast<std::uint64_t>(lock_kind::election)));
            changed.key.name = in.text();
            changed.key.part = in.text();
            out.emplace_back(std::move(changed));
        } else if (tag == "c") {
            auto const id = read_id(in);
            out.emplace_back(contended_message{id, in.hex()});
        } else if (tag == "x") {
            auto const id = read_id(in);
            auto const secret = in.hex();
            out.emplace_back(gone_message{id, secret, in.text()});
        } else {
            auto* const granted = out.empty() ? nullptr : std::get_if<granted_message>(&out.back());
            if (granted == nullptr) raise_malformed();
            read_after(tag, in, granted->after, written);
        }
    }
    return out;
}

}  // namespace holdfast::stores::compare
