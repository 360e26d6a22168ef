// One line on the terminal that says who is waited for, refreshed in place.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

class wait_line {
public:
    explicit wait_line(bool wanted) noexcept;
    ~wait_line() { erase(); }
    wait_line(wait_line const&) = delete;
    wait_line& operator=(wait_line const&) = delete;

    void show(std::string_view text);
    void erase() noexcept;

    /// Whether stderr is a terminal and the line is wanted.
    [[nodiscard]] bool is_on() const noexcept { return on_; }

private:
    bool on_;
    bool drawn_{false};
};

}  // namespace holdfast::cli
