#include "stores/quorum/listing.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace holdfast::stores::quorum {

// Members may end their pages at different names: what is behind the first of these ends is
// left for the next page.
seam::page merged_page(round const& in, seam::inspect const& what, std::size_t majority) {
    struct seen {
        seam::listed info;
        std::map<std::string, std::pair<claim_info, std::size_t>> holders;
    };
    seam::page out;
    std::map<std::string, seen> names;
    for (auto const& each : in.votes) {
        auto const* const page =
            each.is == vote::state::answered ? std::get_if<seam::page>(&each.answer) : nullptr;
        if (page == nullptr) continue;
        if (!page->next.empty() && (out.next.empty() || page->next < out.next))
            out.next = page->next;
        for (auto const& name : page->names) {
            if (name.kind != lock_kind::lock) continue;
            auto& known = names[name.name];
            known.info.name = name.name;
            for (auto const& holder : name.holders) {
                auto& [info, count] = known.holders[holder.id];
                info = holder;
                ++count;
            }
        }
    }
    for (auto& [name, known] : names) {
        if (!what.exact && !out.next.empty() && name > out.next) continue;
        for (auto& [id, holder] : known.holders)
            if (holder.second >= majority) known.info.holders.push_back(std::move(holder.first));
        if (!known.info.holders.empty()) out.names.push_back(std::move(known.info));
    }
    return out;
}

}  // namespace holdfast::stores::quorum
