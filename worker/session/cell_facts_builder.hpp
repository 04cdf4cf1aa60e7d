#pragma once

#include <cstdint>

#include "core/config/sweep.hpp"
#include "core/data/dataset.hpp"
#include "core/data/sampler.hpp"
#include "storage/cells/cell_file.hpp"
#include "worker/eval/mode_evaluation.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/session/run_context.hpp"

namespace depthgrid {

/// What is known about cell e of a fused model before its first step: counts, grid, digests,
/// settings and the planner's predictions.
CellFacts static_facts(const RunContext& run, const CellPlan& cell, const FusedModel& fused,
                       std::size_t e, const Dataset& data, const Sampler& sampler);

/// Residual scales of cell e in force now, one per depth step. @return (L)
std::vector<double> residual_scales(const FusedModel& fused, std::size_t e);

/// Whether a part of the depth has an output scale α: a flow, but not one of a tied block.
bool has_alpha(const ModelOptions& options);

/// α of the cell with the weights of now; NaN if the model has none.
double flow_alpha(const FusedModel& fused, std::size_t e);

/// Final losses and executed shares of cell e by mode, and the cost of its student, which stays as
/// predicted by static_facts() if the student was not evaluated. @param tokens  T
void set_modes(CellFacts& facts, const ModeResults& modes, const FusedModel& fused, std::size_t e,
               std::int64_t tokens);

}  // namespace depthgrid
