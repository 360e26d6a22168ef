// What a connection says and asks before anything else may be sent.
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/random.hpp"
#include "base/text.hpp"
#include "net/stream.hpp"
#include "stores/redis/connection.hpp"
#include "stores/redis/fault.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

namespace {

using purpose = question::purpose;

// Nothing may be sent before it is answered.
bool is_essential(purpose meaning) noexcept {
    return meaning == purpose::login || meaning == purpose::identity || meaning == purpose::role;
}

// A server may refuse to say which it is (an ACL without INFO, a proxy).
std::optional<std::uint64_t> read_identity(answer const& what, settings const& of) {
    constexpr std::string_view label = "run_id:";
    if (what.is_error()) return std::nullopt;
    answer_reader in{what};
    auto const text = in.text();
    if (auto why = other_mode(text, of)) throw unwelcome{*std::move(why)};
    auto const at = text.find(label);
    if (at == std::string_view::npos) return std::nullopt;
    auto const id = base::parse_hex(text.substr(at + label.size(), base::hex_digits));
    return id != std::uint64_t{0} ? id : std::nullopt;
}

// Nobody else knows it by this name: what others say of the clock is checked before it is believed.
std::uint64_t make_identity() {
    std::uint64_t out = 0;
    while (out == 0)
        out = base::entropy();
    return out;
}

// A server may refuse to say, and what is in front of it may not know the word: then the first write tells.
void check_role(answer const& what, settings const& of) {
    if (what.is_error()) return;
    answer_reader in{what};
    if (in.array() == 0) throw garbled{"it has no role"};
    if (auto const role = in.text(); role != "master") throw unwelcome{not_a_master(role, of)};
}

}  // namespace

// Who we are, and which database: nothing may be sent before the server has agreed to both.
void connection::greet(base::instant now) {
    at_ = phase::greeting;
    parser_ = std::make_unique<answer_parser>();
    if (!to_->password.empty()) {
        command login{"AUTH"};
        if (!to_->user.empty()) login << to_->user;
        login << to_->password;
        ask_ourselves(std::move(login), purpose::login, now);
    }
    if (to_->database != 0) {
        command select{"SELECT"};
        select << to_->database;
        ask_ourselves(std::move(select), purpose::login, now);
    }
    command title{"CLIENT"};
    title << "SETNAME" << name_;
    ask_ourselves(std::move(title), purpose::none, now);
    if (calls_scripts_) ask_ourselves(script_cache::inquiry(to_->layout), purpose::inventory, now);
    if (vets_) {
        command info{"INFO"};
        info << "server";
        ask_ourselves(std::move(info), purpose::identity, now);
        ask_ourselves(command{"ROLE"}, purpose::role, now);
    }
    if (greetings_ == 0) become_ready(now);
    flush(now);
}

void connection::ask_ourselves(command what, question::purpose meaning, base::instant now) {
    if (is_essential(meaning)) ++greetings_;
    send_alone({.what = std::move(what), .give_up = now + to_->timeout, .meaning = meaning});
}

void connection::take_greeting(question const& asked, answer const& what, base::instant now) {
    auto const words = what.error_words();
    if (asked.meaning == purpose::inventory) scripts_.take_inventory(to_->layout, what);
    if (asked.meaning == purpose::script) scripts_.on_loaded(*asked.what.calls(), words);
    if (asked.what.calls() == &scripts::many && is_lasting(words)) gathering_.switch_off();
    // A server that wants a password first says so to whatever comes first.
    bool const unknown = words.starts_with("NOAUTH");
    if (!is_essential(asked.meaning) && !unknown) return;
    if (asked.meaning == purpose::identity && !unknown) {
        auto const id = read_identity(what, *to_);
        clock_is_shared_ = id.has_value();
        clock_ = seam::clock_id{id ? *id : make_identity()};
    } else if (asked.meaning == purpose::role && !unknown) {
        check_role(what, *to_);
    } else if (what.is_error()) {
        throw unwelcome{explain(words, *to_)};
    }
    if (--greetings_ == 0) become_ready(now);
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
