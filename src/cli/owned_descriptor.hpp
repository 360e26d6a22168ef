// A file descriptor that is closed once.
#pragma once

#include <utility>

#include <unistd.h>

namespace holdfast::cli {

class owned_descriptor {
public:
    owned_descriptor() noexcept = default;
    explicit owned_descriptor(int number) noexcept : number_{number} {}
    owned_descriptor(owned_descriptor&& other) noexcept
        : number_{std::exchange(other.number_, -1)} {}
    owned_descriptor& operator=(owned_descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }
    ~owned_descriptor() { reset(); }

    void reset() noexcept {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }
    [[nodiscard]] int get() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }

private:
    int number_{-1};
};

}  // namespace holdfast::cli
