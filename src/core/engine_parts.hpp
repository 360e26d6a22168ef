// The parts of an engine, which know each other.
#pragma once

#include "core/acquire_calls.hpp"
#include "core/cell_watches.hpp"
#include "core/claim_table.hpp"
#include "core/claim_timers.hpp"
#include "core/deadlock_search.hpp"
#include "core/engine_context.hpp"
#include "core/hold_keeper.hpp"
#include "core/notice_reader.hpp"
#include "core/operation_calls.hpp"
#include "core/parked_holds.hpp"
#include "core/releaser.hpp"
#include "core/renewer.hpp"
#include "core/settler.hpp"
#include "core/submitter.hpp"
#include "core/task_scheduler.hpp"

namespace holdfast::core {

/// The life of a claim goes from part to part: a submit is granted, kept, released, settled. Each part has the
/// data that only it needs; `shared` and `claims` are everybody's.
///
/// Thread-safety: none; it belongs to the engine.
struct engine_parts {
    explicit engine_parts(engine_settings with) : shared{std::move(with)} {}
    engine_parts(engine_parts const&) = delete;
    engine_parts& operator=(engine_parts const&) = delete;

    engine_context shared;
    cell_watches watches{};
    claim_table claims{shared, watches};
    acquire_calls acquires{*this, shared};
    submitter submits{*this, shared};
    renewer renewals{*this, shared};
    hold_keeper holds{*this, shared};
    releaser releases{*this, shared};
    settler settlements{*this, shared};
    parked_holds parked{*this, shared};
    notice_reader notices{*this, shared};
    operation_calls operations{*this, shared};
    deadlock_search deadlocks{*this, shared};
    claim_timers timing{*this, shared};
    task_scheduler tasks{shared};
};

}  // namespace holdfast::core
