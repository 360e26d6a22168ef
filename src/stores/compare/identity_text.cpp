#include "stores/compare/identity_text.hpp"

#include "stores/compare/fields.hpp"

namespace holdfast::stores::compare {

std::string write_identity(seam::identity const& who) {
    field_writer out;
    out.hex(static_cast<std::uint64_t>(who.id)).text(who.host);
    out.number(static_cast<std::uint64_t>(who.pid)).text(who.label);
    return std::move(out).take();
}

void read_identity(std::string_view body, seam::identity& who) {
    field_reader in{body};
    if (!in.next_line()) return;
    who.id = seam::client_id{in.hex()};
    who.host = in.text();
    who.pid = static_cast<std::int64_t>(in.number(INT64_MAX));
    who.label = in.text();
}

}  // namespace holdfast::stores::compare
