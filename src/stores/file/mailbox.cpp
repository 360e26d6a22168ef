#include "stores/file/mailbox.hpp"

#include <algorithm>
#include <utility>

#include "stores/file/numbers.hpp"

namespace holdfast::stores::file {

namespace {

enum class sort : std::int64_t { granted, gone, contended, changed };

/// One row, but for its client and its serial number.
struct letter {
    sort what{};
    std::uint64_t number{0};
    lock_kind kind{};
    std::string name{};
    std::string part{};
    seam::grant held{};
    std::string words{};
};

struct writer {
    letter operator()(seam::claim_granted const& hold) const {
        return {.what = sort::granted, .number = hold.id.number, .held = hold.held};
    }
    letter operator()(seam::claim_gone const& notice) const {
        return {.what = sort::gone, .number = notice.id.number, .words = notice.why};
    }
    letter operator()(seam::name_contended const& notice) const {
        return {.what = sort::contended, .number = notice.id.number};
    }
    letter operator()(seam::changed const& notice) const {
        return {.what = sort::changed,
                .kind = notice.key.kind,
                .name = notice.key.name,
                .part = notice.key.part};
    }
    letter operator()(seam::session_changed const&) const { return {}; }
};

seam::notice read_letter(cursor const& row, seam::client_id client) {
    seam::claim_id const id{client, row.as<std::uint64_t>(1)};
    switch (row.as<sort>(0)) {
    case sort::granted:
        return seam::claim_granted{id,
                                   {.number = row.as<seam::sequence>(5),
                                    .began = moment(row.integer(6)),
                                    .contended = row.integer(7) != 0}};
    case sort::gone: return seam::claim_gone{id, row.text(8)};
    case sort::contended: return seam::name_contended{id};
    case sort::changed: break;
    }
    return seam::changed{{row.as<lock_kind>(2), row.text(3), row.text(4)}};
}

}  // namespace

void mailbox::put(file_ledger& ledger, seam::client_id to, seam::notice const& what) {
    if (std::holds_alternative<seam::session_changed>(what)) return;  // never made by the rules
    auto const row = std::visit(writer{}, what);
    file_.query("INSERT OR REPLACE INTO notices VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(raw(to), raw(row.what), row.number, raw(row.kind), row.name, row.part,
              ledger.next_serial(), raw(row.held.number), count(row.held.began), row.held.contended,
              row.words)
        .run();
}

std::vector<seam::notice> mailbox::fetch(seam::client_id client) {
    std::vector<std::pair<std::int64_t, seam::notice>> found;
    {
        auto row = file_.query(
            "SELECT what, number, kind, name, part, sequence, began, contended, words, serial"
            " FROM notices WHERE client = ? AND serial > ?");
        row.with(raw(client), read_);
        while (row.next())
            found.emplace_back(row.integer(9), read_letter(row, client));
    }
    std::ranges::sort(found, {}, [](auto const& each) { return each.first; });
    std::vector<seam::notice> out;
    out.reserve(found.size());
    for (auto& [serial, notice] : found) {
        read_ = serial;
        out.push_back(std::move(notice));
    }
    return out;
}

void mailbox::clear(seam::client_id client) {
    if (read_ == removed_) return;
    removing_ = read_;
    file_.query("DELETE FROM notices WHERE client = ? AND serial <= ?")
        .with(raw(client), read_)
        .run();
}

}  // namespace holdfast::stores::file
