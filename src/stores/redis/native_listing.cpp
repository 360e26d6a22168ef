// Listings of the native layout: SCAN for the records, a script for each, sorted by name.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "stores/redis/native_layout.hpp"
#include "stores/redis/replies.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t names_per_page = 200;

claim_info read_claim(answer_reader& in, seam::store_time now) {
    constexpr std::size_t fields = 8;
    in.array(fields);
    claim_info out;
    out.id = in.text();
    out.token = in.number(largest_number) << 8;
    out.mode = read_mode(in);
    out.permits = read_count(in);
    auto const since = read_time(in);
    auto const expires = read_time(in);
    auto info = in.text();
    out.kept = in.number(1) == 1;
    // Its details may have been evicted, or deleted by hand: then little is known of it.
    if (info.empty()) info = "0:0:0:1:01:00:";
    out.owner = take_netstring(info);
    out.label = take_netstring(info);
    out.host = take_netstring(info);
    auto const pid = base::parse_number(take_netstring(info), INT64_MAX);
    auto const actor = take_netstring(info);
    out.value = take_netstring(info);
    if (!pid) throw garbled{"what is said of a claim makes no sense"};
    out.pid = static_cast<std::int64_t>(*pid);
    if (out.owner.empty())
        out.owner = out.id.substr(0, out.id.find('-')) + "/" + std::string{actor};
    out.age = std::chrono::duration_cast<milliseconds>(now - since);
    out.lease_left =
        std::max(milliseconds{0}, std::chrono::duration_cast<milliseconds>(expires - now));
    out.arrival = static_cast<std::uint64_t>(since.time_since_epoch().count());
    return out;
}

seam::listed read_name(answer_reader& in, seam::store_time now) {
    seam::listed out;
    out.name = in.text();
    out.kind = read_kind(in);
    auto const limit = in.number(largest_number);
    if (out.kind == lock_kind::semaphore) out.limit = limit;
    out.cell = in.text();
    for (auto* const claims : {&out.holders, &out.waiters})
        for (auto left = in.array(); left > 0; --left)
            claims->push_back(read_claim(in, now));
    return out;
}

/// Finds the records first, by two cursors at once on each server or in the indexes of those that are waited for; then
/// asks for those of one page. The next page uses what this one has found: names that begin meanwhile may
/// be missed. A record whose key holds a hash has a name that only the record knows, so such records are
/// asked for each time.
class listing final : public exchange {
public:
    listing(native_layout const& in, seam::inspect what) : in_{in}, what_{std::move(what)} {
        if (what_.exact) {
            for (bool const condition : {false, true})
                inspect(in_.call(scripts::inspect, what_.prefix, condition));
        } else if (auto found = in_.take_records(what_)) {
            records_ = std::move(*found);
            ask_for_page();
        } else if (!what_.waited_for) {
            search(action::find_names, in_.keys().pattern(what_.prefix, false));
            search(action::find_conditions, in_.keys().pattern(what_.prefix, true));
        } else if (in_.slots() != nullptr) {
            search(action::find_indexes, in_.keys().waited_pattern());
        } else {
            command out{scripts::waited, 1};
            in_.keys().append_waited(out, std::nullopt);
            read_index(std::move(out));
        }
    }

    [[nodiscard]] bool spans_servers() const noexcept override {
        return in_.slots() != nullptr && !what_.exact;
    }

    void on_answer(std::size_t which, answer const& what) override {
        answer_reader in{what};
        auto const how = steps_[which];
        switch (how.doing) {
        case action::inspect: return on_inspected(in);
        case action::read_index: return on_indexed(in);
        default: return on_scanned(how, in);
        }
    }

    seam::reply finish() override {
        std::ranges::sort(found_, [](seam::listed const& one, seam::listed const& other) {
            bool const first = one.kind == lock_kind::condition;
            bool const second = other.kind == lock_kind::condition;
            return std::tie(one.name, first) < std::tie(other.name, second);
        });
        seam::page out;
        for (auto& each : found_) {
            bool const new_name = out.names.empty() || out.names.back().name != each.name;
            bool const beyond = !last_.empty() && each.name > last_;
            if (!what_.exact && (beyond || (new_name && names_ == names_per_page))) {
                more_ = true;
                break;
            }
            if (new_name) ++names_;
            out.names.push_back(std::move(each));
        }
        if (more_) {
            out.next = out.names.empty() ? last_ : out.names.back().name;
            in_.keep({what_.prefix, what_.waited_for, out.next, std::move(records_)});
        }
        return {now_, std::move(out)};
    }

private:
    /// What a command does: three that search, and two that ask about what was found.
    enum class action { find_names, find_conditions, find_indexes, read_index, inspect };
    struct search_step {
        action doing{};
        seam::lane_id lane{};
    };

    void put(search_step how, command out) {
        outbox.push_back(std::move(out));
        steps_.push_back(how);
    }
    void inspect(command out) { put({.doing = action::inspect}, std::move(out)); }
    void read_index(command out) {
        put({.doing = action::read_index}, std::move(out));
        ++searching_;
    }

    // Each master of a cluster has some of the names.
    void search(action space, std::string pattern) {
        patterns_[static_cast<std::size_t>(space)] = std::move(pattern);
        for (auto const lane : in_.slots() != nullptr ? in_.slots()->lanes()
                                                      : std::vector<seam::lane_id>{seam::lane_id{}})
            scan({space, lane}, "0");
    }

    void scan(search_step how, std::string_view cursor) {
        command out{"SCAN"};
        out.to.lane = how.lane;
        out << cursor << "MATCH" << patterns_[static_cast<std::size_t>(how.doing)] << "COUNT"
            << keys_per_scan;
        put(how, std::move(out));
        ++searching_;
    }

    void on_scanned(search_step how, answer_reader& in) {
        in.array(2);
        std::string const cursor{in.text()};
        for (auto left = in.array(); left > 0; --left) {
            auto const key = in.text();
            if (how.doing != action::find_indexes) {
                records_.emplace(key);
            } else if (indexes_.emplace(key).second) {
                command out{scripts::waited, 1};
                auto const tag = key.substr(key.rfind('{') + 1);
                out.to.slot = slot_of(tag.substr(0, tag.size() - 1));
                out << key;
                read_index(std::move(out));
            }
        }
        if (cursor != "0") scan(how, cursor);
        end_search();
    }

    void on_indexed(answer_reader& in) {
        auto const head = read_head(in);
        if (head.word != "waited") unknown_word(head.word);
        if (now_ == seam::store_time{}) now_ = head.now;
        for (auto left = in.array(); left > 0; --left)
            records_.emplace(in.text());
        end_search();
    }

    void end_search() {
        if (--searching_ == 0) ask_for_page();
    }

    void ask_for_page() {
        std::vector<std::pair<std::string_view, std::string_view>> plain;  // name, record
        std::vector<std::string_view> hidden;
        for (auto const& record : records_) {
            auto const tag = in_.keys().tag_in(record);
            if (tag.empty()) continue;
            if (!is_plain_tag(tag)) {
                hidden.push_back(record);
            } else if (tag.starts_with(what_.prefix) && tag > what_.after) {
                plain.emplace_back(tag, record);
            }
        }
        std::ranges::sort(plain);
        std::size_t names = 0;
        std::string_view last;
        for (auto const& [name, record] : plain) {
            if (name != last && names++ == names_per_page) {
                last_ = last;
                more_ = true;
                break;
            }
            last = name;
            hidden.push_back(record);
        }
        for (auto const record : hidden)
            inspect(in_.call_on(scripts::inspect, record, {}));
        // A page without names still has to tell the time. Empty braces would be none to a cluster.
        if (hidden.empty() && now_ == seam::store_time{})
            inspect(in_.call(scripts::inspect, what_.prefix.empty() ? "-" : what_.prefix, false));
    }

    void on_inspected(answer_reader& in) {
        auto const head = read_head(in);
        if (now_ == seam::store_time{}) now_ = head.now;
        if (head.word == "none") return;
        if (head.word != "name") unknown_word(head.word);
        auto name = read_name(in, head.now);
        bool const wanted = what_.exact
                                ? name.name == what_.prefix
                                : name.name.starts_with(what_.prefix) && name.name > what_.after;
        if (wanted) found_.push_back(std::move(name));
    }

    native_layout const& in_;
    seam::inspect what_;
    std::array<std::string, 3> patterns_;  ///< by the spaces that are searched
    std::vector<search_step> steps_;       ///< of the commands, in order
    std::size_t searching_{0};             ///< commands that may bring more records
    std::set<std::string> indexes_;        ///< of slots, in a cluster
    std::set<std::string> records_;
    std::vector<seam::listed> found_;
    std::size_t names_{0};
    std::string last_;  ///< the last name that this page may hold; empty: no bound
    bool more_{false};
    seam::store_time now_{};
};

}  // namespace

void native_layout::keep(unfinished_listing listing) const {
    base::lock_guard const held{listing_mutex_};
    listing_ = std::move(listing);
}

std::optional<std::set<std::string>> native_layout::take_records(seam::inspect const& of) const {
    base::lock_guard const held{listing_mutex_};
    if (of.after.empty() || of.after != listing_.after || of.prefix != listing_.prefix ||
        of.waited_for != listing_.waited_for)
        return std::nullopt;
    return std::exchange(listing_, {}).records;
}

std::unique_ptr<exchange> list(native_layout const& in, seam::inspect what) {
    return std::make_unique<listing>(in, std::move(what));
}

}  // namespace holdfast::stores::redis
