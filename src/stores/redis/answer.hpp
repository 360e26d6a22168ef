// What a server answers (RESP2), taken apart and distrusted.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::stores::redis {

/// The server said something that no Redis says in this place. The connection is of no further use.
class garbled : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// One answer, flat: arrays stand before their elements.
class answer {
public:
    enum class kind : std::uint8_t { text, status, error, integer, nothing, array };

    struct item {
        kind what{};
        std::int64_t number{0};  ///< the integer; of a text its length, of an array its elements
        std::size_t from{0};     ///< where a text begins
    };

    [[nodiscard]] bool is_error() const noexcept {
        return !items_.empty() && items_.front().what == kind::error;
    }
    /// The words of an error; empty when it is none.
    [[nodiscard]] std::string_view error_words() const noexcept {
        return is_error() ? text_of(items_.front()) : std::string_view{};
    }

    [[nodiscard]] std::vector<item> const& items() const noexcept { return items_; }
    [[nodiscard]] std::string_view text_of(item const& each) const noexcept {
        return std::string_view{bytes_}.substr(each.from, static_cast<std::size_t>(each.number));
    }

    void clear() noexcept {
        items_.clear();
        bytes_.clear();
    }
    void add(kind what, std::int64_t number) { items_.push_back({what, number, 0}); }
    void add(kind what, std::string_view text) {
        items_.push_back({what, static_cast<std::int64_t>(text.size()), bytes_.size()});
        bytes_.append(text);
    }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
    [[nodiscard]] std::size_t text_size() const noexcept { return bytes_.size(); }

private:
    std::vector<item> items_;
    std::string bytes_;
};

/// Reads an answer from front to back. Everything that is not as expected is `garbled`.
class answer_reader {
public:
    explicit answer_reader(answer const& of) noexcept : of_{of} {}

    [[nodiscard]] bool at_end() const noexcept { return at_ == of_.items().size(); }
    [[nodiscard]] answer::kind peek() const;

    /// Enters an array and returns how many elements follow.
    std::size_t array();
    void array(std::size_t exactly);
    std::string_view text();
    std::int64_t integer();

    /// Numbers come as integers, or as texts where Lua would round them.
    std::uint64_t number(std::uint64_t limit = UINT64_MAX);

    /// Leaves one value out, with all that is in it.
    void skip();

private:
    answer::item const& next();

    answer const& of_;
    std::size_t at_{0};
};

/// The most that one answer may have, however hostile the server.
struct answer_limits {
    std::size_t bytes{64U << 20};
    std::size_t items{1U << 20};
    std::size_t line{64U << 10};  ///< a status, an error, a number: what is sought for its end
    int depth{7};                 ///< arrays in arrays
};

/// Cuts the bytes that arrive into answers.
class answer_parser {
public:
    explicit answer_parser(answer_limits limits = {});
    ~answer_parser();
    answer_parser(answer_parser&&) = delete;

    /// Throws `garbled`.
    void feed(std::string_view bytes);

    /// Moves the next complete answer to `out`; false when more bytes are needed. Throws `garbled`.
    [[nodiscard]] bool next(answer& out);

private:
    void check_unfinished() const;

    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace holdfast::stores::redis
