// What a connection says and asks before anything else may be sent.
#include <string_view>
#include <utility>

#include "base/random.hpp"
#include "base/text.hpp"
#include "net/stream.hpp"
#include "stores/redis/connection.hpp"
#include "stores/redis/fault.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

// Who we are, and which database: nothing may be sent before the server has agreed to both.
void connection::greet(base::instant now) {
    at_ = phase::greeting;
    parser_ = std::make_unique<answer_parser>();
    if (!to_->password.empty()) {
        command login{"AUTH"};
        if (!to_->user.empty()) login << to_->user;
        login << to_->password;
        ask_ourselves(std::move(login), true, now);
    }
    if (to_->database != 0) {
        command select{"SELECT"};
        select << to_->database;
        ask_ourselves(std::move(select), true, now);
    }
    command title{"CLIENT"};
    title << "SETNAME" << name_;
    ask_ourselves(std::move(title), false, now);
    if (identifies_) {
        command info{"INFO"};
        info << "server";
        ask_ourselves(std::move(info), question::purpose::identity, now);
    }
    if (requires_master_) ask_ourselves(command{"ROLE"}, question::purpose::role, now);
    if (greetings_ == 0) become_ready(now);
    flush(now);
}

void connection::ask_ourselves(command what, bool essential, base::instant now) {
    if (essential) ++greetings_;
    send_alone({.what = std::move(what), .give_up = now + to_->timeout, .essential = essential});
}

void connection::ask_ourselves(command what, question::purpose meaning, base::instant now) {
    ++greetings_;
    send_alone({.what = std::move(what),
                .give_up = now + to_->timeout,
                .essential = true,
                .meaning = meaning});
}

void connection::take_greeting(question const& asked, answer const& what, base::instant now) {
    if (asked.what.calls() != nullptr) std::erase(loading_, asked.what.calls());
    if (asked.what.calls() == &scripts::many && is_lasting(what.error_words()))
        gathering_.switch_off();
    // A server that wants a password first says so to whatever comes first.
    bool const unknown = what.error_words().starts_with("NOAUTH");
    if (!asked.essential && !unknown) return;
    if (asked.meaning == question::purpose::identity && !unknown) {
        take_identity(what);
    } else if (asked.meaning == question::purpose::role && !unknown) {
        take_role(what);
    } else if (what.is_error()) {
        throw unwelcome{explain(what.error_words(), *to_)};
    }
    if (--greetings_ == 0) become_ready(now);
}

// A server may refuse to say, and what is in front of it may not know the word: then the first write tells.
void connection::take_role(answer const& what) const {
    if (what.is_error()) return;
    answer_reader in{what};
    if (in.array() == 0) throw garbled{"it has no role"};
    if (auto const role = in.text(); role != "master") throw unwelcome{not_a_master(role, *to_)};
}

// A server may refuse to say (an ACL without INFO, a proxy). Then nobody else knows its clock by the
// name that we give it, and what others say of it is checked before it is believed.
void connection::take_identity(answer const& what) {
    constexpr std::string_view label = "run_id:";
    constexpr std::uint64_t none = 0;
    auto id = none;
    if (!what.is_error()) {
        answer_reader in{what};
        auto const text = in.text();
        if (auto why = other_mode(text, *to_)) throw unwelcome{*std::move(why)};
        if (auto const at = text.find(label); at != std::string_view::npos)
            id = base::parse_hex(text.substr(at + label.size(), base::hex_digits)).value_or(none);
    }
    clock_is_shared_ = id != none;
    while (id == none)
        id = base::entropy();
    clock_ = seam::clock_id{id};
}

void connection::become_ready(base::instant now) {
    at_ = phase::ready;
    ready_since_ = now;
    watcher_.on_open();
    for (auto& each : std::exchange(held_, {})) {
        each.give_up = now + to_->timeout;
        put(std::move(each), now);
    }
}

}  // namespace holdfast::stores::redis
