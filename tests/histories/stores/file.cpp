// file: processes over one file. Those that are stopped or killed may be in the middle of a write.
#include "histories/store.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::histories {

namespace {

using namespace std::chrono_literals;

class file_store final : public store {
public:
    [[nodiscard]] std::string url(int) const override {
        return "file:" + (place_.path() / "locks.db").string() + "?timeout=1s" + url_options(true);
    }

    [[nodiscard]] std::vector<fault> faults() override {
        // Processes notice it within a second; until then some of them may go on in the old one.
        return {{.name = "file removed",
                 .begin = [this](random&) { remove(); },
                 .end = [] {},
                 .forgets = true,
                 .shortest = 2000ms,
                 .longest = 2500ms}};
    }

    [[nodiscard]] std::vector<std::string> leftovers() override {
        std::vector<std::string> out;
        for (auto const& entry : std::filesystem::directory_iterator{place_.path()}) {
            auto const name = entry.path().filename().string();
            if (!name.starts_with("locks.db")) out.push_back("the file " + name);
        }
        return out;
    }

private:
    void remove() const {
        for (auto const* companion : {"", "-wal", "-shm", "-live"})
            std::filesystem::remove(place_.path() / (std::string{"locks.db"} + companion));
        std::filesystem::remove_all(place_.path() / "locks.db-wake");
    }

    support::temporary_directory place_;
};

store_row const file{"file", [](std::uint64_t) { return std::make_unique<file_store>(); }};

}  // namespace

}  // namespace holdfast::histories
