#include "stores/compare/evictions.hpp"

#include <utility>

namespace holdfast::stores::compare {

struct evictions::part_counter {
    std::size_t count{0};
    std::size_t open{1};  ///< until all parts have begun
    base::error why{};
    continuation done;

    void finish_one() {
        if (--open > 0) return;
        if (why) return done(seam::failure{why});
        done(seam::evicted{count});
    }
};

// Conditions live beside the other kinds, so a name may be two.
void evictions::begin(seam::evict const& what, continuation done) {
    auto const all = std::make_shared<part_counter>();
    all->done = std::move(done);
    if (!what.only) return look(all, what);
    for (bool const condition : {false, true})
        end(all, {what.name, condition}, what);
    all->finish_one();
}

void evictions::look(run const& of, seam::evict const& what) {
    std::vector<name_query> names;
    for (bool const condition : {false, true})
        names.push_back({.key = {what.name, condition}, .line = 1});
    many_.fetch(std::move(names),
                [this, of, what](std::vector<view>* seen, base::error const& why) {
                    if (seen == nullptr) {
                        of->why = why;
                        return of->finish_one();
                    }
                    try {
                        for (auto const& each : *seen)
                            end_seen(of, what, each);
                    } catch (std::system_error const& unreadable) {
                        of->why = {errc::store_unavailable, unreadable.what()};
                    }
                    of->finish_one();
                });
}

void evictions::end_seen(run const& of, seam::evict const& what, view const& seen) {
    bool const held = seen.written != stamp{};
    if (!held && seen.line.empty()) return;
    head_state head;
    if (held) head = read_head(seen.key, seen.body, seen.written, client_.time.judging_time());
    if (head.holders.size() <= most_together) return end(of, seen.key, what);
    for (auto const& holder : head.holders) {
        auto one = what;
        one.only = holder.subject.id;
        end(of, seen.key, std::move(one));
    }
}

void evictions::end(run const& of, name_key const& key, seam::evict what) {
    auto op = std::make_shared<name_operation>();
    op->key = key;
    if (what.only) op->asked.claims.push_back(*what.only);
    op->what = std::move(what);
    ++of->open;
    op->done = [of](seam::reply_body body) {
        if (auto const* const some = std::get_if<seam::evicted>(&body))
            of->count += some->count;
        else if (auto const* const failed = std::get_if<seam::failure>(&body))
            of->why = failed->error;
        of->finish_one();
    };
    work_.begin(std::move(op));
}

}  // namespace holdfast::stores::compare
