// A file descriptor that closes itself.
#pragma once

#include <utility>

#include <unistd.h>

namespace holdfast::base {

class descriptor {
public:
    descriptor() = default;
    explicit descriptor(int number) noexcept : number_{number} {}
    descriptor(descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    descriptor& operator=(descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }
    ~descriptor() { reset(); }

    explicit operator bool() const noexcept { return number_ >= 0; }
    [[nodiscard]] int get() const noexcept { return number_; }

    /// Leaves the closing to the caller.
    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

    void reset() noexcept {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }

private:
    int number_{-1};
};

}  // namespace holdfast::base
