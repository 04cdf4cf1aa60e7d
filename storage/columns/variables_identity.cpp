#include <array>

#include "storage/columns/variable_tables.hpp"

namespace depthgrid {
namespace {

using enum DataType;

constexpr auto kIdentityVariables = std::to_array<Variable>({
    {"cell_alias", "cell", Text, "1", "readable name", "plan", "docs/configuration.md"},
    {"cell_row", "cell", Int64, "1", "row in the order of the file", "plan",
     "docs/configuration.md"},
    {"cell_status", "cell", Int8, "1",
     "flag: 0 pending, 1 running, 2 completed, 3 diverged, 4 failed, 5 cancelled, 6 oom; an "
     "interrupted cell is pending with attempts > 0",
     "at change", "docs/cli.md, JSON"},
    {"cell_config", "cell", Text, "1", "leaves that differ from default, canonical JSON", "plan",
     "docs/configuration.md"},
    {"structure_digest", "cell", Text, "1", "fusion key", "plan",
     "docs/architecture.md, From YAML to HDF5 in nine hops"},
    {"arm", "cell", Text, "1", "label of the arm: all factors without the seed", "plan",
     "docs/configuration.md"},
    {"factor", "cell", Text, "1", "leaf changed from the baseline; empty for baseline and products",
     "plan", "docs/configuration.md"},
    {"is_baseline", "cell", Int8, "1", "flag: 1 = baseline arm", "plan", "docs/configuration.md"},
    {"replicate", "cell", Int32, "1", "index of the seed", "plan", "docs/configuration.md"},
    {"data_order_digest", "cell", Text, "1", "digest of the batch stream; equal = paired", "end",
     "core/data/sampler.hpp"},
    {"param_seed", "cell", Int64, "1", "seed", "plan", "docs/configuration.md"},
    {"param_data_seed", "cell", Int64, "1", "data seed", "plan", "docs/configuration.md"},
    {"param_model_family", "cell", Text, "1", "family", "plan", "docs/configuration.md"},
    {"n_parameters", "cell", Int64, "1", "unique trainable parameters", "plan",
     "core/train/optimizer/parameter_layout.hpp"},
    {"n_parameters_stored", "cell", Int64, "1", "stored parameters", "plan",
     "core/train/optimizer/parameter_layout.hpp"},
    {"n_parameters_effective", "cell", Int64, "1", "parameters of the unrolled network", "plan",
     "models/cost_model.hpp"},
    {"n_parameters_group", "cell, parameter_group", Int64, "1", "parameters by group", "plan",
     "core/train/optimizer/parameter_layout.hpp"},
    {"n_steps", "cell", Int64, "1", "valid entries on step", "at publish",
     "docs/store-format.md, Reading results"},
    {"n_evals", "cell", Int64, "1", "valid entries on eval_step", "at publish",
     "docs/store-format.md, Reading results"},
    {"n_probes", "cell", Int64, "1", "valid entries on probe_step", "at publish",
     "docs/store-format.md, Reading results"},
    {"n_depth", "cell", Int32, "1", "valid entries on depth", "plan",
     "docs/store-format.md, Reading results"},
    {"n_layer", "cell", Int32, "1", "valid entries on layer", "plan",
     "docs/store-format.md, Reading results"},
    {"n_position", "cell", Int32, "1", "valid entries on token_position (T)", "plan",
     "docs/store-format.md, Reading results"},
    {"depth_time", "cell, depth", Float64, "1", "depth-time t at which the step is evaluated",
     "plan", "core/depth/depth_grid.hpp"},
    {"depth_edge_time", "cell, depth_edge", Float64, "1", "depth-time of the state", "plan",
     "core/depth/depth_grid.hpp"},
    {"depth_layer", "cell, depth", Int32, "1", "block that makes the step", "plan",
     "core/depth/depth_grid.hpp"},
    {"time_feature_rank", "cell", Int32, "1", "rank of the time features on the grid of nodes",
     "plan", "models/blocks/time_features.hpp"},
});

}  // namespace

std::span<const Variable> identity_variables() {
  return kIdentityVariables;
}

}  // namespace depthgrid
