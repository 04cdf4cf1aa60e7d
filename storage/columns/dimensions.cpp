#include "storage/columns/dimensions.hpp"

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/config/axis_labels.hpp"

namespace depthgrid {
namespace {

using enum DataType;
using enum AxisKind;

constexpr auto kDimensions = std::to_array<Dimension>({
    {"cell", Text, Cell, 0, "", "content-hash id of the cell, 12 hex digits"},
    {"step", Int64, Joined, 1, "T", "optimiser step: the update just made"},
    {"eval_step", Int64, Joined, 0, "T", "optimiser steps done at an evaluation"},
    {"probe_step", Int64, Joined, 0, "T", "optimiser steps done at a probe"},
    {"depth", Int32, Padded, 1, "Z", "depth step, from state l - 1 to l"},
    {"depth_edge", Int32, Padded, 0, "Z", "states before, between and after the depth steps"},
    {"depth_edge_b", Int32, Padded, 0, "Z", "the same, second axis of matrices over depth"},
    {"layer", Int32, Padded, 0, "", "block with parameters of its own; shared weights have one"},
    {"parameter_group", Text, Fixed, 0, "", "group of parameters"},
    {"token_position", Int32, Padded, 0, "", "position in the window"},
    {"weight_type", Text, Labelled, 0, "",
     "type of weight: q k v out up down; of state-space layers A B C D dt"},
    {"depth_factor", Text, Labelled, 0, "", "other factor of a step: norm1.scale, ssm.A, gain.q"},
    {"fine_depth", Float64, Labelled, 0, "", "depth-time of a fine grid"},
    {"flow_time", Float64, Labelled, 0, "",
     "time within a flow, or the depth that is solved as one"},
    {"histogram_bin", Float64, Labelled, 0, "", "centre of a bin of gate values"},
    {"position_decile", Int32, Padded, 0, "", "tenth of the positions in the window"},
    {"reliability_bin", Float64, Labelled, 0, "", "centre of a bin of predicted probabilities"},
    {"sequence_sample", Int32, Padded, 0, "", "sequence of the probe set"},
    {"mask_byte", Int32, Padded, 0, "", "eight tokens, the first in the lowest bit"},
    {"frequency_bin", Float64, Labelled, 0, "", "cycles per unit of depth-time"},
    {"token_class", Text, Labelled, 0, "", "tokens over which a statistic is averaged"},
    {"split", Text, Fixed, 0, "", "part of the corpus"},
    {"audit_check", Text, Fixed, 0, "", "check of the audit, docs/audit.md"},
    {"eval_mode", Text, Fixed, 0, "",
     "how layers that skip tokens are executed; teacher_topk and topk see the future"},
    {"exponent", Int32, Padded, 1, "", "Lyapunov exponent, from the largest one down"},
    {"lyapunov_variant", Text, Labelled, 0, "", "map of which the exponents are"},
    {"head", Int32, Padded, 0, "", "attention head"},
    {"singular_index", Int32, Padded, 0, "", "order of singular values and of eigenvalues"},
    {"solver_method", Text, Labelled, 0, "", "integration along depth that is compared"},
    {"ssm_state", Int32, Padded, 0, "", "state of a state-space layer"},
    {"attempt", Int64, Ragged, 0, "", "attempts of all cells; attempt_cell says whose"},
    {"event", Int64, Ragged, 0, "", "events of all cells in order of time; event_cell says whose"},
    {"probe", Text, Labelled, 0, "", "probe, named as its leaves are"},
    {"state_record", Int64, Ragged, 0, "",
     "files of raw states of all cells; state_cell says whose"},
    {"job", Text, Labelled, 0, "", "id of the fused job"},
    {"control_axis", Text, Labelled, 0, "", "attribute of an axis of the control signal"},
    {"control_axis_b", Text, Labelled, 0, "", "the same, second axis of matrices over attributes"},
    {"steering_part", Text, Labelled, 0, "", "prompts that were trained, held out, or other text"},
    {"steering_signal", Text, Labelled, 0, "", "signal on the axis: plus 1, zero, minus 1"},
});

}  // namespace

std::string_view name_of(DataType type) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {"i1", "i4", "i8", "f4", "f8", "S"};
  return kNames[static_cast<std::size_t>(type)];
}

std::size_t bytes_of(DataType type) noexcept {
  constexpr std::array<std::size_t, 6> kBytes = {1, 4, 8, 4, 8, 0};
  return kBytes[static_cast<std::size_t>(type)];
}

std::span<const Dimension> store_axes() {
  return kDimensions;
}

std::span<const Dimension> dimensions() {
  static const std::vector<Dimension> kAll = [] {
    std::vector<Dimension> all;
    for (const auto table : axis_tables()) all.insert(all.end(), table.begin(), table.end());
    return all;
  }();
  return kAll;
}

const Dimension& dimension(std::string_view name) {
  const auto at = std::ranges::find(dimensions(), name, &Dimension::name);
  if (at == dimensions().end()) throw Error("no axis is called '" + std::string(name) + "'");
  return *at;
}

std::span<const std::string_view> labels_of(const Dimension& dimension) {
  if (dimension.name == "parameter_group") return kParameterGroupNames;
  if (dimension.name == "split") return kSplitNames;
  if (dimension.name == "audit_check") return kAuditCheckNames;
  if (dimension.name == "eval_mode") return kEvalModeNames;
  return {};
}

std::span<const std::string_view> known_labels(const Dimension& dimension) {
  if (dimension.name == "weight_type") return kAllWeightTypeNames;
  if (dimension.name == "token_class") return kTokenClassNames;
  if (dimension.name == "lyapunov_variant") return kLyapunovVariantNames;
  if (dimension.name == "solver_method") return kSolverMethodNames;
  if (dimension.name == "probe") return kProbeNames;
  if (dimension.name.starts_with("control_axis")) return kRuleAttributeNames;
  if (dimension.name == "steering_part") return kSteeringPartNames;
  if (dimension.name == "steering_signal") return kSteeringSignalNames;
  return {};
}

}  // namespace depthgrid
