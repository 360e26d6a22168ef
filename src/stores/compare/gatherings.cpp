#include "stores/compare/gatherings.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace holdfast::stores::compare {

namespace {

// So many names are looked at in one trip.
constexpr std::size_t names_per_fetch = 64;

// Sessions that are the ends of cells, and of which the view does not say whether they live.
std::vector<session_id> unknown_ends(view const& seen) {
    std::vector<session_id> out;
    if (seen.written == stamp{}) return out;
    for (auto const& [part, cell] : read_head(seen.key, seen.body, seen.written, {}).cells) {
        auto const end = cell.end.session;
        bool const known =
            std::ranges::find(seen.sessions, end, &session_state::id) != seen.sessions.end();
        if (end != session_id{} && !known) out.push_back(end);
    }
    return out;
}

}  // namespace

void gatherings::fetch(std::vector<name_query> names, receiver then) {
    auto const which = client_.calls.add([this, then = std::move(then)](outcome&& what) {
        auto* const found = std::get_if<views>(&what);
        if (found == nullptr) return then(nullptr, error_of(what));
        then(&found->found, {});
    });
    client_.to.fetch(which, {.names = std::move(names)});
}

// --- read ------------------------------------------------------------------------------------------

judging gatherings::looking() const {
    judging out;
    out.when = client_.time.judging_time();
    out.self = client_.around.self;
    out.traits = client_.traits;
    return out;
}

void gatherings::read(seam::read what, continuation done) {
    name_key key{what.key.name, what.key.kind == lock_kind::condition};
    auto& name = reads_[key];
    name.waiting.push_back({std::move(what), std::move(done)});
    if (!name.busy) begin_reads(key);
}

void gatherings::begin_reads(name_key const& key) {
    auto& name = reads_[key];
    name.busy = true;
    auto const readers = std::make_shared<std::vector<reader>>(std::exchange(name.waiting, {}));
    look_for({.key = key, .line = 1}, readers);
}

void gatherings::look_for(name_query asked, std::shared_ptr<std::vector<reader>> const& readers) {
    fetch({asked}, [this, asked, readers](std::vector<view>* seen, base::error const& why) {
        // Who waits has nothing to do with what a cell says.
        view const head_alone = seen == nullptr ? view{}
                                                : view{.key = seen->front().key,
                                                       .written = seen->front().written,
                                                       .body = seen->front().body,
                                                       .sessions = seen->front().sessions};
        auto const answer = [&](reader& each) -> seam::reply_body {
            if (seen == nullptr) return seam::failure{why};
            seam::request const what = each.what;
            return std::get<verdict>(compare::judge(head_alone, &what, {}, looking()))
                .bodies.front();
        };
        try {
            // A cell whose end nobody has looked up may be over.
            auto ends = seen == nullptr ? std::vector<session_id>{} : unknown_ends(seen->front());
            if (!ends.empty() && asked.sessions.empty()) {
                auto more = asked;
                more.sessions = std::move(ends);
                return look_for(std::move(more), readers);
            }
            for (auto& each : *readers)
                each.done(answer(each));
        } catch (std::system_error const& unreadable) {
            for (auto& each : *readers)
                each.done(seam::failure{{errc::store_unavailable, unreadable.what()}});
        }
        auto const name = reads_.find(asked.key);
        name->second.busy = false;
        if (name->second.waiting.empty())
            reads_.erase(name);
        else
            begin_reads(asked.key);
    });
}

// --- inspect ---------------------------------------------------------------------------------------

struct gatherings::inspection_run {
    seam::page out;
    std::size_t open{0};
    base::error why{};
    continuation done;
};

void gatherings::inspect(seam::inspect const& what, continuation done) {
    auto const run = std::make_shared<inspection_run>();
    run->done = std::move(done);
    if (what.exact) return look_at(run, {what.prefix});
    list(run, {.prefix = what.prefix, .after = what.after, .waited_for = what.waited_for});
}

void gatherings::sweep() {
    constexpr std::uint32_t names_per_sweep = 16;
    if (std::exchange(sweeping_, true)) return;
    auto const run = std::make_shared<inspection_run>();
    run->done = [this](seam::reply_body body) {
        sweeping_ = false;
        auto const* const page = std::get_if<seam::page>(&body);
        swept_ = page == nullptr ? std::string{} : page->next;
    };
    list(run, {.prefix = {}, .after = swept_, .most = names_per_sweep});
}

void gatherings::list(inspection const& run, listing wanted) {
    auto const which = client_.calls.add([this, run, wanted](outcome&& found) {
        auto* const listed = std::get_if<names>(&found);
        if (listed == nullptr) return run->done(seam::failure{error_of(found)});
        if (listed->found.size() >= wanted.most) run->out.next = listed->found.back();
        look_at(run, listed->found);
    });
    client_.to.list(which, std::move(wanted));
}

void gatherings::look_at(inspection const& run, std::vector<std::string> const& names) {
    std::vector<name_query> all;
    for (auto const& name : names)
        for (bool const condition : {false, true})
            all.push_back(
                {.key = {name, condition}, .line = name_query::whole_line, .bodies = true});
    run->open = 1;
    auto const finish = [run] {
        if (--run->open > 0) return;
        if (run->why) return run->done(seam::failure{run->why});
        std::ranges::sort(run->out.names, {}, &seam::listed::name);
        run->done(std::move(run->out));
    };
    for (std::size_t first = 0; first < all.size(); first += names_per_fetch) {
        auto const last = std::min(all.size(), first + names_per_fetch);
        ++run->open;
        fetch({all.begin() + static_cast<std::ptrdiff_t>(first),
               all.begin() + static_cast<std::ptrdiff_t>(last)},
              [this, run, finish](std::vector<view>* seen, base::error const& why) {
                  if (seen == nullptr)
                      run->why = why;
                  else
                      for (auto const& each : *seen)
                          describe(run, each);
                  finish();
              });
    }
    finish();
}

// Each client wrote when it came by what it knew of the time, which may be old; the store knows who came last.
void gatherings::order_waiters(lock_info& name, view const& seen) {
    std::map<std::string, std::uint64_t> arrivals;
    for (auto const& item : seen.line)
        arrivals.insert_or_assign(seam::to_string(item.id),
                                  item.arrival != 0 ? item.arrival : item.place);
    for (auto& waiter : name.waiters)
        if (auto const found = arrivals.find(waiter.id); found != arrivals.end())
            waiter.arrival = found->second;
}

// A listing writes nothing itself; what time has brought to a name is written beside it.
void gatherings::describe(inspection const& run, view const& seen) {
    auto const context = looking();
    seam::request const what = seam::inspect{.prefix = seen.key.name, .exact = true};
    try {
        auto judged = compare::judge(seen, &what, {}, context);
        auto* const decided = std::get_if<verdict>(&judged);
        if (decided == nullptr) return;
        auto* const page = std::get_if<seam::page>(&decided->bodies.front());
        for (auto& each : page->names) {
            // Who will be let in at once waits still: the grant has no token yet.
            auto const fresh = std::ranges::stable_partition(each.holders, [](auto const& holder) {
                return holder.token >> 8U >= sequences_per_step;
            });
            for (auto& waiter : fresh)
                waiter.token = 0;
            each.waiters.insert(each.waiters.begin(), fresh.begin(), fresh.end());
            each.holders.erase(fresh.begin(), fresh.end());
            order_waiters(each, seen);
            run->out.names.push_back(std::move(each));
        }
        if (decided->next) work_.touch(seen.key);
    } catch (std::system_error const& unreadable) {
        run->why = {errc::store_unavailable, unreadable.what()};
    }
}

}  // namespace holdfast::stores::compare
