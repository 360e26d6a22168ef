// Wakes other clients: one FIFO per slot, into which anybody who may use the store writes a byte.
// A ring is a hint. What it is about stands in the rows of the file.
#pragma once

#include <cstdint>

#include "base/descriptor.hpp"
#include "stores/file/location.hpp"

namespace holdfast::stores::file {

class wake_fifo {
public:
    /// Opens the directory of FIFOs, and makes it when it is missing. Throws `fault`.
    explicit wake_fifo(location const& where);

    /// Takes the FIFO of our own slot, and makes it where there is none; false when the file system has no
    /// FIFOs. It stays for the next client of the slot: to make one is a good part of what joining costs.
    [[nodiscard]] bool hang(std::int64_t slot);

    /// Readable when somebody rang.
    [[nodiscard]] int own() const noexcept { return own_.get(); }
    void silence() noexcept;

    /// Never blocks and never fails: a slot without a FIFO is not there to be woken.
    void ring(std::int64_t slot) const noexcept;

private:
    location where_;
    base::descriptor directory_;
    base::descriptor own_;
};

}  // namespace holdfast::stores::file
