// What the messages on a client's channel mean.
#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "stores/redis/native_layout.hpp"
#include "stores/redis/replies.hpp"

namespace holdfast::stores::redis {

namespace {

// The words of a message, taken off its front. What is missing is `garbled`.
class words {
public:
    explicit words(std::string_view of) noexcept : left_{of} {}

    std::string_view next() {
        auto const blank = left_.find(' ');
        auto const out = left_.substr(0, blank);
        if (out.empty()) throw garbled{"a message is shorter than it should be"};
        left_.remove_prefix(blank == std::string_view::npos ? left_.size() : blank + 1);
        return out;
    }
    std::uint64_t number(std::uint64_t limit = largest_number) {
        auto const value = base::parse_number(next(), limit);
        if (!value) throw garbled{"a message has no number where one is due"};
        return *value;
    }
    std::uint64_t hex() {
        auto const word = next();
        auto const value = word.size() == 16 ? base::parse_hex(word) : std::nullopt;
        if (!value) throw garbled{"a message names no claim"};
        return *value;
    }
    [[nodiscard]] std::string_view rest() const noexcept { return left_; }

private:
    std::string_view left_;
};

seam::notice read_changed(words& from) {
    auto const kind = from.number(static_cast<std::uint64_t>(lock_kind::election));
    from.number();
    auto const length = from.number(base::longest_name);
    auto const rest = from.rest();
    if (length > rest.size()) throw garbled{"a message is shorter than it says"};
    return seam::changed{{static_cast<lock_kind>(kind), std::string{rest.substr(0, length)},
                          std::string{rest.substr(length)}}};
}

}  // namespace

// All but grants are taken as hints and lead to a question at most, so only grants are proven.
heard native_layout::read(std::string_view message) const try {
    words from{message};
    auto const word = from.next();
    if (word == "changed") return {read_changed(from)};
    if (word != "granted" && word != "gone" && word != "contended") return {};
    seam::claim_id const id{id_, from.hex()};
    if (word == "contended") return {seam::name_contended{id}};
    if (word == "gone") {
        from.number();
        return {seam::claim_gone{id, std::string{from.rest()}}};
    }
    auto const terms = from.rest();
    auto const end = std::min(terms.rfind(' '), terms.size());
    if (!secrets_.is_proven(id, terms.substr(0, end),
                            terms.substr(std::min(end + 1, terms.size()))))
        return {std::nullopt, refuse_unproven()};
    seam::grant held;
    held.number = seam::sequence{from.number()};
    held.began = seam::store_time{seam::store_clock::duration{from.number()}};
    held.contended = from.number(1) == 1;
    return {seam::claim_granted{id, held, seam::clock_id{from.hex()}}};
} catch (garbled const&) {
    return {};
}

// Said the first time, and then each time that there are ten times as many: whoever can publish must
// not be able to fill a log.
std::string native_layout::refuse_unproven() const {
    auto const count = ++unproven_;
    auto power = count;
    while (power % 10 == 0)
        power /= 10;
    if (power != 1) return {};
    return "ignored " + std::to_string(count) + (count == 1 ? " message" : " messages so far") +
           " that told of a grant and did not prove it: somebody else publishes on '" + channel() +
           "'; limit the channels of the server's other users (ACL SETUSER, resetchannels)";
}

void append_netstring(std::string& to, std::string_view text) {
    to += std::to_string(text.size());
    to += ':';
    to += text;
}

std::string_view take_netstring(std::string_view& from) {
    auto const colon = from.find(':');
    auto const length = colon == std::string_view::npos
                            ? std::nullopt
                            : base::parse_number(from.substr(0, colon), from.size() - colon - 1);
    if (!length) throw garbled{"what is said of a claim makes no sense"};
    auto const out = from.substr(colon + 1, *length);
    from.remove_prefix(colon + 1 + *length);
    return out;
}

}  // namespace holdfast::stores::redis
