#include "histories/workers.hpp"

#include <stdexcept>
#include <system_error>

namespace holdfast::histories {

namespace {

constexpr std::chrono::seconds end_bound{60};

}  // namespace

workers::workers(run_settings const& settings, store const& with, archive const& files,
                 journal& log)
    : settings_{settings},
      store_{with},
      files_{files},
      log_{log},
      crew_{settings.careless       ? crew::careless
            : with.has_only_locks() ? crew::locks
                                    : crew::everybody},
      all_(static_cast<std::size_t>(with.workers())) {
    for (int i = 0; i < count(); ++i)
        start(i);
}

void workers::start(int worker) {
    auto& target = all_[static_cast<std::size_t>(worker)];
    worker_settings const settings{
        store_.url(worker), files_.directory(), worker, ++target.incarnation,
        store_.clients(),   settings_.seed,     crew_};
    target.record = std::make_unique<journal>(files_.journal_of(worker, target.incarnation));
    auto words = settings.words();
    words.insert(words.begin(), settings_.program);
    target.process = std::make_unique<support::process>(std::move(words));
}

void workers::stop(int worker) { all_[static_cast<std::size_t>(worker)].process->stop(); }
void workers::resume(int worker) { all_[static_cast<std::size_t>(worker)].process->resume(); }

void workers::kill(int worker) {
    auto& target = all_[static_cast<std::size_t>(worker)];
    event gone;
    gone.kind = kind::killed;
    gone.worker = static_cast<std::int16_t>(worker);
    gone.incarnation = static_cast<std::uint16_t>(target.incarnation);
    gone.before = boot_time();
    target.process->kill();
    gone.after = boot_time();
    log_.append(gone);
}

workers::census workers::progress() const {
    census out;
    for (auto const& worker : all_) {
        auto& counts = out.emplace_back();
        for (std::size_t i = 0; i < parties_of(store_.clients(), crew_); ++i)
            counts.push_back(worker.record->progress(i));
    }
    return out;
}

std::optional<workers::straggler> workers::behind(census const& then) const {
    auto const current = progress();
    for (std::size_t worker = 0; worker < current.size(); ++worker)
        for (std::size_t i = 0; i < current[worker].size(); ++i)
            if (current[worker][i] == then[worker][i])
                return straggler{
                    std::string{role_of(i, crew_)} + " of worker " + std::to_string(worker),
                    static_cast<int>(worker), static_cast<int>(i)};
    return std::nullopt;
}

void workers::finish() {
    for (auto& worker : all_) {
        try {
            worker.process->send("finish");
        } catch (std::system_error const&) {
            // It is gone already, which its status tells.
        }
    }
    for (int i = 0; i < count(); ++i) {
        event late;
        late.kind = kind::stuck;
        late.worker = static_cast<std::int16_t>(i);
        try {
            auto const status = all_[static_cast<std::size_t>(i)].process->finish(end_bound);
            if (status == 0) continue;
            late.set_note("ended with status " + std::to_string(status));
        } catch (std::runtime_error const& error) {
            late.set_note(error.what());
            kill(i);
        }
        late.before = late.after = boot_time();
        log_.append(late);
    }
}

}  // namespace holdfast::histories
