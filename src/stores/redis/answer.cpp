#include "stores/redis/answer.hpp"

#include <new>
#include <optional>
#include <utility>

#include <hiredis/read.h>

#include "base/text.hpp"

namespace holdfast::stores::redis {

// --- reading -----------------------------------------------------------------------------------

answer::item const& answer_reader::next() {
    if (at_end()) throw garbled{"an answer is shorter than it should be"};
    return of_.items()[at_++];
}

answer::kind answer_reader::peek() const {
    if (at_end()) throw garbled{"an answer is shorter than it should be"};
    return of_.items()[at_].what;
}

std::size_t answer_reader::array() {
    auto const& part = next();
    if (part.what != answer::kind::array) throw garbled{"an answer is no array where one is due"};
    return static_cast<std::size_t>(part.number);
}

void answer_reader::array(std::size_t exactly) {
    if (array() != exactly)
        throw garbled{"an answer has another number of elements than it should"};
}

std::string_view answer_reader::text() {
    auto const& part = next();
    if (part.what != answer::kind::text && part.what != answer::kind::status)
        throw garbled{"an answer is no text where one is due"};
    return of_.text_of(part);
}

std::int64_t answer_reader::integer() {
    auto const& part = next();
    if (part.what != answer::kind::integer)
        throw garbled{"an answer is no integer where one is due"};
    return part.number;
}

std::uint64_t answer_reader::number(std::uint64_t limit) {
    auto const& part = next();
    std::optional<std::uint64_t> out;
    if (part.what == answer::kind::integer) {
        if (part.number >= 0) out = static_cast<std::uint64_t>(part.number);
    } else if (part.what == answer::kind::text) {
        out = base::parse_number(of_.text_of(part), limit);
    }
    if (!out || *out > limit) throw garbled{"an answer is no number where one is due"};
    return *out;
}

void answer_reader::skip() {
    std::size_t left = 1;
    while (left > 0) {
        auto const& part = next();
        --left;
        if (part.what == answer::kind::array) left += static_cast<std::size_t>(part.number);
    }
}

// --- parsing -----------------------------------------------------------------------------------

struct answer_parser::state {
    answer_limits limits;
    answer built;
    bool oversize{false};
    redisReader* reader{nullptr};

    // hiredis wants an object for everything that it reads; ours has no address of its own.
    void* made() noexcept { return this; }

    void* add(answer::kind what, std::int64_t number) noexcept {
        try {
            if (built.size() >= limits.items) return refuse();
            built.add(what, number);
        } catch (std::bad_alloc const&) {
            return nullptr;
        }
        return made();
    }
    void* add(answer::kind what, std::string_view text) noexcept {
        try {
            if (built.size() >= limits.items || built.text_size() + text.size() > limits.bytes)
                return refuse();
            built.add(what, text);
        } catch (std::bad_alloc const&) {
            return nullptr;
        }
        return made();
    }
    void* refuse() noexcept {
        oversize = true;
        return nullptr;
    }
};

namespace {

template <class State>
State& state_of(redisReadTask const* task) noexcept {
    return *static_cast<State*>(task->privdata);
}

answer::kind kind_of(int type) noexcept {
    switch (type) {
    case REDIS_REPLY_ERROR: return answer::kind::error;
    case REDIS_REPLY_STATUS: return answer::kind::status;
    default: return answer::kind::text;
    }
}

template <class State>
void* make_text(redisReadTask const* task, char* text, std::size_t length) noexcept {
    return state_of<State>(task).add(kind_of(task->type), std::string_view{text, length});
}

// The number of elements has another type in newer versions of hiredis.
template <class State, class Count>
void* make_array(redisReadTask const* task, Count elements) noexcept {
    auto& state = state_of<State>(task);
    if (elements < 0 || static_cast<std::uint64_t>(elements) > state.limits.items ||
        state.reader->ridx >= state.limits.depth)
        return state.refuse();
    return state.add(answer::kind::array, static_cast<std::int64_t>(elements));
}

template <class State>
void* make_integer(redisReadTask const* task, long long number) noexcept {
    return state_of<State>(task).add(answer::kind::integer, number);
}

template <class State>
void* make_nothing(redisReadTask const* task) noexcept {
    return state_of<State>(task).add(answer::kind::nothing, 0);
}

template <class State>
redisReplyObjectFunctions* functions() noexcept {
    static redisReplyObjectFunctions functions = [] {
        redisReplyObjectFunctions out{};
        out.createString = &make_text<State>;
        out.createArray = &make_array<State>;
        out.createInteger = &make_integer<State>;
        out.createNil = &make_nothing<State>;
        out.freeObject = [](void*) {};
        return out;
    }();
    return &functions;
}

}  // namespace

answer_parser::answer_parser(answer_limits limits) : state_{std::make_unique<state>()} {
    state_->limits = limits;
    state_->reader = ::redisReaderCreateWithFunctions(functions<state>());
    if (state_->reader == nullptr) throw std::bad_alloc{};
    state_->reader->privdata = state_.get();
}

answer_parser::~answer_parser() { ::redisReaderFree(state_->reader); }

void answer_parser::feed(std::string_view bytes) {
    auto& reader = *state_->reader;
    // What has been fed and not taken is one unfinished answer.
    if (reader.len - reader.pos + bytes.size() > state_->limits.bytes)
        throw garbled{"an answer is larger than any of ours"};
    if (::redisReaderFeed(&reader, bytes.data(), bytes.size()) != REDIS_OK)
        throw garbled{reader.errstr};
}

// hiredis looks for the end of a line from its beginning each time that bytes arrive, and waits for as
// many bytes as the head of a text announces.
void answer_parser::check_unfinished() const {
    auto const& reader = *state_->reader;
    std::string_view const rest{reader.buf + reader.pos, reader.len - reader.pos};
    if (rest.size() <= state_->limits.line) return;
    auto const end = rest.substr(0, state_->limits.line).find('\r');
    if (end == std::string_view::npos) throw garbled{"a line has no end"};
    if (!base::parse_number(rest.substr(0, end), state_->limits.bytes))
        throw garbled{"an answer is larger than any of ours"};
}

bool answer_parser::next(answer& out) {
    void* whole = nullptr;
    if (::redisReaderGetReply(state_->reader, &whole) != REDIS_OK)
        throw garbled{state_->oversize ? "an answer is larger than any of ours"
                                       : state_->reader->errstr};
    if (whole == nullptr) {
        check_unfinished();
        return false;
    }
    out.clear();
    std::swap(out, state_->built);
    return true;
}

}  // namespace holdfast::stores::redis
