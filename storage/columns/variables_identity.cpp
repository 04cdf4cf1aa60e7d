#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kSweepPage = "docs/configuration.md";
constexpr std::string_view kParameterLayout = "core/train/optimizer/parameter_layout.hpp";
constexpr std::string_view kReadingResults = "docs/store-format.md, Reading results";
constexpr std::string_view kDepthGrid = "core/depth/depth_grid.hpp";

constexpr Variable kIdentityVariables[] = {
    {"cell_alias", "cell", Text, "1", "readable name", "plan", kSweepPage},
    {"cell_row", "cell", Int64, "1", "row in the order of the file", "plan", kSweepPage},
    {"cell_status", "cell", Int8, "1",
     "flag: 0 pending, 1 running, 2 completed, 3 diverged, 4 failed, 5 cancelled, 6 oom; an "
     "interrupted cell is pending with attempts > 0",
     "at change", "docs/cli.md, JSON"},
    {"cell_config", "cell", Text, "1", "leaves that differ from default, canonical JSON", "plan",
     kSweepPage},
    {"structure_digest", "cell", Text, "1", "fusion key", "plan",
     "docs/architecture.md, From YAML to HDF5 in nine hops"},
    {"arm", "cell", Text, "1", "label of the arm: all factors without the seed", "plan",
     kSweepPage},
    {"factor", "cell", Text, "1", "leaf changed from the baseline; empty for baseline and products",
     "plan", kSweepPage},
    {"is_baseline", "cell", Int8, "1", "flag: 1 = baseline arm", "plan", kSweepPage},
    {"replicate", "cell", Int32, "1", "index of the seed", "plan", kSweepPage},
    {"in_newest_plan", "cell", Int8, "1",
     "flag: 1 = cell of the store's newest plan; 0 = only an earlier plan has it", "at pack",
     "docs/store-format.md, Plans"},
    {"plan_generation", "cell", Int32, "1", "number of the newest plan that has the cell",
     "at pack", "docs/store-format.md, Plans"},
    {"data_order_digest", "cell", Text, "1", "digest of the batch stream; equal = paired", "end",
     "core/data/sampler.hpp"},
    {"param_seed", "cell", Int64, "1", "seed", "plan", kSweepPage},
    {"param_data_seed", "cell", Int64, "1", "data seed", "plan", kSweepPage},
    {"param_model_family", "cell", Text, "1", "family", "plan", kSweepPage},
    {"n_parameters", "cell", Int64, "1", "trainable parameters: without frozen groups and averages",
     "plan", kParameterLayout},
    {"n_parameters_stored", "cell", Int64, "1", "stored parameters, those of a checkpoint", "plan",
     kParameterLayout},
    {"n_parameters_effective", "cell", Int64, "1", "parameters of the unrolled network", "plan",
     "models/cost_model.hpp"},
    {"n_parameters_group", "cell, parameter_group", Int64, "1", "parameters by group", "plan",
     kParameterLayout},
    {"n_steps", "cell", Int64, "1", "valid entries on step", "at publish", kReadingResults},
    {"n_evals", "cell", Int64, "1", "valid entries on eval_step", "at publish", kReadingResults},
    {"n_probes", "cell", Int64, "1", "valid entries on probe_step", "at publish", kReadingResults},
    {"n_depth", "cell", Int32, "1", "valid entries on depth", "plan", kReadingResults},
    {"n_layer", "cell", Int32, "1", "valid entries on layer", "plan", kReadingResults},
    {"n_position", "cell", Int32, "1", "valid entries on token_position (T)", "plan",
     kReadingResults},
    {"depth_time", "cell, depth", Float64, "1", "depth-time t at which the step is evaluated",
     "plan", kDepthGrid},
    {"depth_edge_time", "cell, depth_edge", Float64, "1", "depth-time of the state", "plan",
     kDepthGrid},
    {"depth_layer", "cell, depth", Int32, "1", "block that makes the step", "plan", kDepthGrid},
    {"time_feature_rank", "cell", Int32, "1", "rank of the time features on the grid of nodes",
     "plan", "models/blocks/time_features.hpp"},
};

std::span<const Variable> identity_variables() {
  return kIdentityVariables;
}

}  // namespace depthgrid
