// What a server or its network reports, turned into an error that names the server and the cure.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "stores/mysql/settings.hpp"

namespace holdfast::stores::mysql {

/// Error numbers that the driver acts upon.
inline constexpr unsigned no_such_table = 1146;
inline constexpr unsigned no_such_sequence = 4091;

/// The transaction was ended in favour of another one, or since a row was changed after it had been looked at, or did not
/// get its lock, or no number for its row: nothing of it
/// has happened, and it may be sent again.
[[nodiscard]] constexpr bool may_be_sent_again(unsigned number) noexcept {
    return number == 1213 || number == 1205 || number == 1467 || number == 1020;
}

/// What a server, or the client's library, says with this number. Its own words are kept, without the password.
[[nodiscard]] base::error explain(unsigned number, std::string_view words, settings const& of);
/// It has answered with something else than was asked for.
[[nodiscard]] base::error explain_odd_answer(settings const& of);

}  // namespace holdfast::stores::mysql
