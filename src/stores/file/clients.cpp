#include "stores/file/clients.hpp"

#include <set>
#include <utility>

#include "stores/file/numbers.hpp"

namespace holdfast::stores::file {

namespace {

constexpr char const* all_clients = "SELECT id, slot, side FROM clients";

std::optional<std::int64_t> slot_in(cursor const& row, int column) {
    if (row.null(column)) return std::nullopt;
    return row.integer(column);
}

}  // namespace

void clients::join() {
    if (alive_.slot() < 0) take_slot();
    file_.query("INSERT OR REPLACE INTO clients VALUES (?, ?, ?, ?, ?, ?)")
        .with(raw(self_->id), alive_.slot(), alive_.side(), self_->pid, self_->host, self_->label)
        .run();
}

void clients::take_slot() {
    (void)count();
    std::set<std::int64_t> used;
    {
        auto row = file_.query(all_clients);
        while (row.next())
            if (auto const slot = slot_in(row, 1)) used.insert(*slot);
    }
    // A free slot may be locked all the same: by a client on its way out, or by one that has not
    // yet noticed that the file was replaced.
    constexpr std::int64_t most = 1'000'000;
    for (std::int64_t slot = 0; slot < most; ++slot)
        if (!used.contains(slot) && alive_.take(slot)) return;
    refuse(errc::store_unavailable, "the store file '" + file_.path() + "' has too many clients");
}

clients::person& clients::look_up(seam::client_id client) {
    auto const [it, fresh] = seen_.try_emplace(client);
    auto& out = it->second;
    if (!fresh) return out;
    if (client == self_->id) {
        out = {.known = true, .gone = false, .slot = alive_.slot(), .who = self_};
        return out;
    }
    auto slot = file_.query("SELECT slot, side, pid, host, label FROM clients WHERE id = ?");
    auto who = std::make_shared<seam::identity>();
    who->id = client;
    if (slot.with(raw(client)).next()) {
        out.known = true;
        out.slot = slot_in(slot, 0);
        out.gone = provably_gone(out.slot, slot.integer(1));
        who->pid = slot.integer(2);
        who->host = slot.text(3);
        who->label = slot.text(4);
    }
    out.who = std::move(who);
    return out;
}

bool clients::gone(seam::client_id client) {
    auto const& found = look_up(client);
    return found.known && found.gone;
}

std::shared_ptr<seam::identity const> clients::who(seam::client_id client) {
    return client == self_->id ? self_ : look_up(client).who;
}

std::optional<std::int64_t> clients::slot(seam::client_id client) {
    auto const& found = look_up(client);
    return found.known && !found.gone ? found.slot : std::nullopt;
}

std::vector<seam::client_id> clients::count() {
    std::vector<seam::client_id> out;
    {
        auto row = file_.query(all_clients);
        while (row.next()) {
            auto const client = row.as<seam::client_id>(0);
            if (client != self_->id && provably_gone(slot_in(row, 1), row.integer(2)))
                out.push_back(client);
        }
    }
    for (auto const client : out) {
        file_.query("UPDATE clients SET slot = NULL WHERE id = ?").with(raw(client)).run();
        seen_.erase(client);
    }
    return out;
}

clients::leavings clients::belongings(seam::client_id client) {
    auto row = file_.query(
        "SELECT EXISTS (SELECT 1 FROM claims WHERE client = ?1 AND kept = 0),"
        " EXISTS (SELECT 1 FROM watches WHERE client = ?1),"
        " EXISTS (SELECT 1 FROM notices WHERE client = ?1)");
    row.with(raw(client)).next();
    return {row.integer(0) != 0, row.integer(1) != 0, row.integer(2) != 0};
}

bool clients::others_alive() {
    auto row = file_.query(all_clients);
    while (row.next())
        if (row.as<seam::client_id>(0) != self_->id &&
            !provably_gone(slot_in(row, 1), row.integer(2)))
            return true;
    return false;
}

bool clients::others_proven_alive() {
    auto row = file_.query(all_clients);
    while (row.next()) {
        auto const slot = slot_in(row, 1);
        if (row.as<seam::client_id>(0) != self_->id && slot && row.integer(2) == alive_.side() &&
            alive_.occupied(*slot))
            return true;
    }
    return false;
}

void clients::remove(seam::client_id client, bool with_notices) {
    auto const id = raw(client);
    seen_.erase(client);
    if (with_notices) file_.query("DELETE FROM notices WHERE client = ?").with(id).run();
    file_.query("DELETE FROM clients WHERE id = ?").with(id).run();
}

}  // namespace holdfast::stores::file
