// file: a private file, which another writer can keep to itself.
#include <filesystem>
#include <stdexcept>

#include <sqlite3.h>

#include "conformance/context.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::conformance {

namespace {

/// A connection of ours to the store's database, which can hold its writers up.
class intruder {
public:
    explicit intruder(std::string const& path) {
        check(::sqlite3_open_v2(path.c_str(), &file_, SQLITE_OPEN_READWRITE, nullptr));
        check(::sqlite3_busy_timeout(file_, 20'000));
        check(::sqlite3_exec(file_, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr));
    }
    ~intruder() {
        ::sqlite3_exec(file_, "ROLLBACK", nullptr, nullptr, nullptr);
        ::sqlite3_close(file_);
    }
    intruder(intruder const&) = delete;
    intruder& operator=(intruder const&) = delete;

private:
    void check(int result) {
        if (result == SQLITE_OK) return;
        std::string const words = ::sqlite3_errmsg(file_);
        ::sqlite3_close(file_);
        throw std::runtime_error{"the intruder cannot work: " + words};
    }

    sqlite3* file_{nullptr};
};

class file_context final : public context {
public:
    [[nodiscard]] std::string url() const override { return "file:" + path(); }

    void silence() override {
        client{url()}.ping();  // the file exists from here on
        intruder_ = std::make_unique<intruder>(path());
    }

    void restore() override { intruder_.reset(); }

    void begin_anew() override {
        for (auto const& it : std::filesystem::directory_iterator{place_.path()})
            std::filesystem::remove_all(it);
    }

private:
    [[nodiscard]] std::string path() const { return (place_.path() / "locks.db").string(); }

    support::temporary_directory place_;
    std::unique_ptr<intruder> intruder_;
};

registration const here{
    {.name = "file", .store = "file", .make = [] { return std::make_unique<file_context>(); }}};

}  // namespace

}  // namespace holdfast::conformance
