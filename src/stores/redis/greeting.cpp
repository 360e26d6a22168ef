#include "stores/redis/greeting.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/random.hpp"
#include "base/text.hpp"
#include "stores/redis/fault.hpp"
#include "stores/redis/script_cache.hpp"

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

std::vector<greeting::part> greeting::begin(settings const& to) {
    std::vector<part> out;
    if (!to.password.empty()) {
        command login{"AUTH"};
        if (!to.user.empty()) login << to.user;
        login << to.password;
        out.push_back({std::move(login), purpose::login});
    }
    if (to.database != 0) {
        command select{"SELECT"};
        select << to.database;
        out.push_back({std::move(select), purpose::login});
    }
    command title{"CLIENT"};
    title << "SETNAME" << name_;
    out.push_back({std::move(title), purpose::none});
    if (calls_scripts_) out.push_back({script_cache::inquiry(to.layout), purpose::inventory});
    if (vets_) {
        command info{"INFO"};
        info << "server";
        out.push_back({std::move(info), purpose::identity});
        out.push_back({command{"ROLE"}, purpose::role});
    }
    for (auto const& each : out)
        if (is_essential(each.meaning)) ++unanswered_;
    return out;
}

bool greeting::take(purpose meaning, answer const& what, settings const& of) {
    auto const words = what.error_words();
    // A server that wants a password first says so to whatever comes first.
    bool const unknown = words.starts_with("NOAUTH");
    if (!is_essential(meaning) && !unknown) return false;
    if (meaning == purpose::identity && !unknown) {
        auto const id = read_identity(what, of);
        clock_is_shared_ = id.has_value();
        clock_ = seam::clock_id{id ? *id : make_identity()};
    } else if (meaning == purpose::role && !unknown) {
        check_role(what, of);
    } else if (what.is_error()) {
        throw unwelcome{explain(words, of)};
    }
    return --unanswered_ == 0;
}

void greeting::forget() noexcept {
    unanswered_ = 0;
    clock_ = {};
    clock_is_shared_ = false;
}

}  // namespace holdfast::stores::redis
