// The part of a connection that sees whether the server is one to be used, and that the tables are there.
#include <utility>

#include "stores/postgres/connection.hpp"
#include "stores/postgres/fault.hpp"
#include "stores/postgres/schema.hpp"
#include "stores/sql/fault.hpp"

namespace holdfast::stores::postgres {

void connection::greet() {
    send({{statement{tables_.greeting()}}, [this](answer found) { on_greeting(std::move(found)); }},
         now_);
    look_for_tables();
}

void connection::on_greeting(answer found) {
    if (found.lost) return;
    auto const& first = found.results.front();
    if (!first.done()) return fail(explain(first.state(), first.words(), to_));
    if (first.number(0, 0) != 0) return fail(read_only(to_));
    // A pooler answers with a process id of its own making.
    direct_ = first.number(0, 1) == PQbackendPID(connected_);
    if (direct_) be_usual();
}

// Whatever the role or the database is set to. A backend that waits for a lock does not see that its client is gone: it
// has to give up by itself, or each try leaves one behind. Through a pooler it would be the setting of others, too.
void connection::be_usual() {
    send({{tables_.usual_settings(to_.timeout / 2)},
          [this](answer found) {
              if (found.lost) return;
              if (auto const* const bad = found.failed())
                  fail(explain(bad->state(), bad->words(), to_));
          }},
         now_);
}

void connection::look_for_tables() {
    send({{statement{tables_.look()}, statement{tables_.look_for_others()}},
          [this](answer found) { on_tables(std::move(found)); }},
         now_);
}

void connection::on_tables(answer found) {
    if (found.lost || at_ != phase::greeting) return;
    auto const& first = found.results.front();
    auto const version = !first.done()       ? schema::version
                         : first.size() == 0 ? 0
                                             : first.number(0, 0);
    if (version != schema::version) return fail(sql::other_version(version, schema::version, to_));
    constexpr int most_tries = 3;
    if (auto const* const bad = found.failed()) {
        if (bad->state() == "42P01" && tries_to_make_++ < most_tries) return make_tables();
        return fail(explain(bad->state(), bad->words(), to_));
    }
    if (first.number(0, 1) != 0) {  // the sequence is behind the clock, as after a restore
        send({tables_.catch_up(),
              [this](answer caught) {
                  if (caught.lost || at_ != phase::greeting) return;
                  if (auto const* const bad = caught.failed())
                      return fail(explain(bad->state(), bad->words(), to_));
                  at_ = phase::ready;
                  owner_.on_ready(*this);
              }},
             now_);
        return;
    }
    at_ = phase::ready;
    owner_.on_ready(*this);
}

void connection::make_tables() {
    send({tables_.creation(),
          [this](answer made) {
              if (made.lost || at_ != phase::greeting) return;
              auto const* const bad = made.failed();
              // Somebody else may have made them meanwhile: the next look tells. It does not tell what may not be
              // made, nor that there are other tables in the way.
              if (bad != nullptr && (bad->state() == "42501" || bad->state() == "42703"))
                  return fail(explain(bad->state(), bad->words(), to_));
              look_for_tables();
          }},
         now_);
}

}  // namespace holdfast::stores::postgres
