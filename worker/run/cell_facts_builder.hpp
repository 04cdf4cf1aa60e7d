#pragma once

#include <cstdint>

#include "core/config/sweep.hpp"
#include "core/data/dataset.hpp"
#include "core/data/sampler.hpp"
#include "storage/cells/cell_facts.hpp"
#include "worker/eval/mode_evaluation.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/run/run_context.hpp"

namespace depthgrid {

/// What is known of cell e of a fused model before its first step: counts, grid, digests, settings,
/// and what the planner thinks of it.
CellFacts static_facts(const RunContext& run, const CellPlan& cell, const FusedModel& fused,
                       std::size_t e, const Dataset& data, const Sampler& sampler);

/// Residual scales of cell e in force now, one a depth step. @return (L)
std::vector<double> residual_scales(const FusedModel& fused, std::size_t e);

/// Losses and executed shares of cell e by mode, at the end, and what its student has cost; that
/// stays as static_facts() expects it where the student was not evaluated. @param tokens  T
void set_modes(CellFacts& facts, const ModeResults& modes, const FusedModel& fused, std::size_t e,
               std::int64_t tokens);

}  // namespace depthgrid
