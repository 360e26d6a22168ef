// The part of a connection that sees whether the server is one to be used, and that the tables are there.
#include <algorithm>
#include <utility>

#include <fcntl.h>

#include "stores/mysql/connection.hpp"
#include "stores/mysql/fault.hpp"
#include "stores/sql/fault.hpp"

namespace holdfast::stores::mysql {

void connection::refuse(std::string words, errc why) {
    fail({why, "the server " + to_.server + " " + std::move(words)});
}

void connection::greet() {
    at_ = phase::greeting;
    connected_since_ = now_;
    // libmariadb leaves it blocking, and OpenSSL would wait for what it reads.
    auto const socket = ::mysql_get_socket(connected_);
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
    // An option file may want it. libmariadb would connect anew without a word, and nobody would greet.
    my_bool const no = 0;
    ::mysql_optionsv(connected_, MYSQL_OPT_RECONNECT, static_cast<void const*>(&no));
    // libmariadb asks for it, and goes on without.
    secure_ = ::mysql_get_ssl_cipher(connected_) != nullptr;
    if (to_.needs_tls() && !secure_)
        return refuse("offers no TLS, and 'sslmode' or 'ca' of the store URL want it");
    rows_ = to_.numbers_from_rows || std::string_view{::mysql_get_server_info(connected_)}.find(
                                         "MariaDB") == std::string_view::npos;
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(to_.timeout).count();
    put({schema::greeting(std::max<std::int64_t>(1, seconds / 2)),
         [this](answer const& found) { on_greeting(found); }});
}

void connection::on_greeting(answer const& found) {
    if (found.lost || at_ == phase::off) return;
    if (found.error != 0) return fail(explain(found.error, found.words, to_));
    auto const& about = found.first();
    // Something that shares connections between clients would mix up their transactions.
    if (number_in(about[0]) != ::mysql_thread_id(connected_))
        return refuse(
            "is reached through a proxy that shares its connections between clients; name "
            "the server itself in the store URL",
            errc::unsupported);
    server_time_ = static_cast<std::int64_t>(number_in(about[1]));
    clock_ = seam::clock_id{number_in(about[2])};
    auto const up_seconds = static_cast<std::int64_t>(number_in(found.first(2)[1]));
    life_ = {number_in(about[0]), server_time_ / 1'000'000 - up_seconds};
    galera_ = false;
    for (auto const& each : found.rows(1)) {
        bool const on = each[1] == "ON" || each[1] == "1";
        if (!on) continue;
        if (each[0] != "wsrep_on") return fail(sql::explain(sql::troubles::read_only, "", to_));
        galera_ = true;
    }
    look_for_tables();
}

void connection::look_for_tables() {
    put({schema::look(server_time_, rows_), [this](answer const& found) { on_tables(found); }});
}

void connection::on_tables(answer const& found) {
    if (found.lost || at_ != phase::greeting) return;
    bool const told = !found.results.empty() && !found.rows(0).empty();
    auto const known = told ? number_in(found.first()[0]) : 0;
    auto const refuse = [&] {
        fail(sql::other_version(static_cast<std::int64_t>(known), schema::version, to_));
    };
    if (told && known != schema::version) return refuse();  // whatever it lacks is not ours to make
    constexpr int most_tries = 3;
    // The version is written last: without it, somebody else is making the tables now.
    bool const missing = found.error == no_such_table || found.error == no_such_sequence ||
                         (found.error == 0 && !told);
    if (missing && tries_to_make_++ < most_tries) return make_tables(0);
    if (found.error != 0) return fail(explain(found.error, found.words, to_));
    if (!told) return refuse();
    at_ = phase::ready;
    fresh_ = true;
}

// One by one: what makes a table ends the transaction anyway. Somebody else may make them at the same time.
void connection::make_tables(std::size_t next) {
    auto const all = schema::repair(rows_, galera_);
    if (next == all.size()) return look_for_tables();
    put({all[next], [this, next](answer const& made) {
             if (made.lost || at_ != phase::greeting) return;
             if (made.error != 0) return fail(explain(made.error, made.words, to_));
             make_tables(next + 1);
         }});
}

}  // namespace holdfast::stores::mysql
