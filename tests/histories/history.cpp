#include "histories/history.hpp"

#include <algorithm>

#include "histories/fenced_register.hpp"
#include "histories/journal.hpp"

namespace holdfast::histories {

void history::sort() {
    std::stable_sort(events.begin(), events.end(),
                     [](event const& a, event const& b) { return a.before < b.before; });
}

archive::archive(std::filesystem::path directory) : directory_{std::move(directory)} {}

std::filesystem::path archive::journal_of(int worker, int incarnation) const {
    return directory_ /
           ("worker-" + std::to_string(worker) + "-" + std::to_string(incarnation) + ".journal");
}

std::filesystem::path archive::register_of(std::string_view name) const {
    return directory_ / (std::string{name} + ".register");
}

history archive::read(plan const& plan) const {
    history out{plan, {}};
    for (auto const& entry : std::filesystem::directory_iterator{directory_}) {
        std::vector<event> part;
        if (entry.path().extension() == ".journal") part = journal{entry.path()}.read();
        if (entry.path().extension() == ".register")
            part = fenced_register{entry.path()}.uses(entry.path().stem().string());
        out.events.insert(out.events.end(), part.begin(), part.end());
    }
    out.sort();
    return out;
}

}  // namespace holdfast::histories
