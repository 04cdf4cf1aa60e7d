#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/config/facts/student_flops.hpp"

namespace depthgrid {

/// Predicted parts of the time of a cell or a job, s.
struct PredictedTime {
  double training = 0;  // steps and periodic evaluations
  double ending = 0;    // last evaluation
  double fixed = 0;     // claim, files and publication, whatever the size of the model

  PredictedTime& operator+=(const PredictedTime& other);
  double sum() const { return training + ending + fixed; }
};

/// One parameter of a model.
struct TensorInfo {
  std::string name;                 // "layers.0.mlp.up.weight"
  std::vector<std::int64_t> shape;  // of one cell
  std::string group;                // "trunk", "router", ...
};

/// Cost of a probe that measures one cell, from the calibration.
struct ProbeCost {
  std::string name;
  std::int64_t measurements = 0;  // in the whole training
  double seconds = 0;             // of one measurement
  double numbers = 0;             // that one measurement records
  double bytes = 0;  // of the files of its own that one measurement writes, before compression
};

/// Counts and costs of one structure from `depthgrid-worker describe`. Counts follow from the
/// configuration alone; times are from a short calibration on this machine.
struct StructureCost {
  std::string structure;  // fusion key, 16 hex digits
  std::int64_t parameters = 0;
  std::vector<std::pair<std::string, std::int64_t>> parameter_groups;
  double flops_per_token = 0;             // forward, one cell, every layer executing every token
  double recomputed_flops_per_token = 0;  // that training evaluates again: `model.gradient.mode`
  /// The same for a student; none if no layer skips tokens. Cells of one structure may differ in
  /// their share of executed tokens.
  std::optional<StudentFlops> student_flops = {};
  double fixed_bytes = 0;                // of a job, independent of E
  double bytes_per_cell = 0;             // per additional cell: arenas, activations, workspace
  double activation_bytes_per_cell = 0;  // the part of bytes_per_cell that is activations
  double moment_bytes_per_cell = 0;      // the part that an optimiser keeps of each parameter
  double seconds_per_cell_step = 0;      // training, fused at max_fused
  double seconds_per_eval_token = 0;     // one cell
  std::int64_t max_fused = 1;            // most cells for which fusing is efficient and fits
  bool depends_on_h = false;             // F(x, t, h): sequential sublayers
  std::int64_t time_feature_rank = -1;   // of the features on the grid of nodes; -1 = no features
  std::vector<TensorInfo> tensors{};     // only if requested
  std::vector<ProbeCost> probes{};       // those that are on; none without times
};

/// Costs by structure. A structure that is absent has unknown costs.
using CostTable = std::map<std::string, StructureCost>;
/// Null if they are unknown.
const StructureCost* known_cost(const CostTable& costs, const std::string& structure);

/// Forward operations per token of a cell of this structure in evaluation: where layers skip
/// tokens, those of a student that executes the share given by the cell's capacity.
double expected_flops(const StructureCost& cost, const CellConfig& config);

/// How often the final evaluation goes over its text: once and, under labels, once for each of four
/// signals and each direction of each axis.
double final_passes(const CellConfig& config);

/// Predicted time of one cell on one rank: steps and evaluations, of layers that skip tokens with
/// their modes, calibrations and statistics. Passes over a whole split count only if eval.windows
/// or eval.final_windows bounds them (a plan needs no corpus).
PredictedTime predicted_times(const CellConfig& config, const StructureCost& cost);

/// Fills in times of which nothing was measured, from flops_per_token: of one core of 2024. Their
/// ratios matter, not their size: for the order of jobs and the remaining time. The same from the
/// same counts, wherever they come from.
/// @param config  of a cell of the structure.
void set_rough_times(StructureCost& cost, const CellConfig& config);

/// The sum of its parts in seconds.
double predicted_cell_seconds(const CellConfig& config, const StructureCost& cost);

/// Size in bytes of a finished cell's folder: journal, result and the checkpoints that are kept.
/// Computed from the configuration alone and for an uncompressed result, so a long cell needs less.
/// Steps replayed after interruptions are not included.
/// @param parameters  stored parameters of the cell. @param probes  see StructureCost.
double predicted_stored_bytes(const CellConfig& config, std::int64_t parameters,
                              const std::vector<ProbeCost>& probes = {});

/// The same of what one probe records in a whole training: in the journal, in the result, and in
/// files of its own.
double stored_bytes(const ProbeCost& probe);

/// The answer of `depthgrid-worker describe`: {"schema": 1, "structures": [{...}]}.
/// @throws Error if the text is not such an answer.
CostTable parse_costs(std::string_view json);

/// The inverse of parse_costs, in the order of the table.
std::string costs_json(const CostTable& costs);

}  // namespace depthgrid
