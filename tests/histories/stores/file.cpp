// file: processes over one file. Those that are stopped or killed may be in the middle of a write.
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>

#include "histories/store.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::histories {

namespace {

using namespace std::chrono_literals;

class file_store final : public store {
public:
    file_store() { std::filesystem::create_directory(home()); }

    [[nodiscard]] std::string url(int) const override {
        return "file:" + (home() / "locks.db").string() + "?timeout=1s" + url_options(true);
    }

    [[nodiscard]] std::vector<fault> faults() override {
        // Processes notice it within a second; until then some of them may go on in the old one.
        return {{.name = "file replaced",
                 .begin = [this](random&) { replace(); },
                 .end = [] {},
                 .forgets = true,
                 .shortest = 2000ms,
                 .longest = 2500ms}};
    }

    [[nodiscard]] std::vector<std::string> leftovers() override {
        std::vector<std::string> out;
        for (auto const& entry : std::filesystem::directory_iterator{home()}) {
            auto const name = entry.path().filename().string();
            if (!name.starts_with("locks.db")) out.push_back("the file " + name);
        }
        return out;
    }

private:
    [[nodiscard]] std::filesystem::path home() const { return place_.path() / "home"; }

    // The file and its companions in one step, as they belong together.
    void replace() {
        auto const other = place_.path() / ("former-" + std::to_string(++former_));
        std::filesystem::create_directory(other);
        if (::renameat2(AT_FDCWD, home().c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) != 0)
            throw std::system_error{errno, std::generic_category(), "renameat2"};
    }

    support::temporary_directory place_;
    int former_{0};
};

store_row const file{"file", [](std::uint64_t) { return std::make_unique<file_store>(); }};

}  // namespace

}  // namespace holdfast::histories
