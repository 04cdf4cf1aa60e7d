#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

using enum DataType;

constexpr std::string_view kPaths = "core/probe/trajectory/path_statistics.hpp";
constexpr std::string_view kMoments = "core/probe/trajectory/state_moments.hpp";

/// A number per token, averaged over the tokens of a class.
constexpr Variable by_class(std::string_view name, std::string_view dims,
                            std::string_view long_name) {
  return {name, dims, Float32, "1", long_name, "trajectory", kPaths, true};
}

constexpr Variable of_states(std::string_view name, std::string_view long_name) {
  return by_class(name, "cell, probe_step, depth_edge, token_class", long_name);
}

constexpr Variable of_steps(std::string_view name, std::string_view long_name) {
  return by_class(name, "cell, probe_step, depth, token_class", long_name);
}

constexpr Variable of_paths(std::string_view name, std::string_view long_name) {
  return by_class(name, "cell, probe_step, token_class", long_name);
}

/// Of the index of files of raw states.
constexpr Variable state_row(std::string_view name, DataType type, std::string_view long_name) {
  return {name, "state_record", type, "1", long_name, "pack", "storage/cells/state_file.hpp", true};
}

constexpr Variable kTrajectoryVariables[] = {
    of_states("trajectory_norm_mean", "RMS over the channels of a token's state, mean over tokens"),
    of_states("trajectory_norm_std", "RMS of a token's state, spread over tokens"),
    of_states("trajectory_norm_p05", "RMS of a token's state, 5 % quantile over tokens"),
    of_states("trajectory_norm_p50", "RMS of a token's state, median over tokens"),
    of_states("trajectory_norm_p95", "RMS of a token's state, 95 % quantile over tokens"),
    of_states("trajectory_norm_max", "RMS of a token's state, maximum over tokens"),
    of_states("trajectory_displacement", "distance from the first state over the norm of that"),
    of_steps("trajectory_velocity", "RMS over the channels of the state's change per depth-time"),
    of_steps("trajectory_relative_velocity",
             "velocity over the norm of the state from which the step begins"),
    of_steps("trajectory_acceleration",
             "RMS of the change of velocity per depth-time, from the step before"),
    of_paths("trajectory_path_length", "integral of the velocity over depth-time"),
    of_paths("trajectory_tortuosity", "length of the path over the distance of its ends, >= 1"),
    of_paths("trajectory_straightness", "distance of the path's ends over its length, 0 to 1"),
    of_steps("trajectory_curvature",
             "curvature of the path at the state from which the step begins"),
    of_steps("trajectory_cosine_step", "cosine of the step and the one before"),
    of_steps("trajectory_cosine_state", "cosine of the states before and after the step"),
    of_states("trajectory_cosine_final", "cosine of the state and the final one"),
    {"trajectory_effective_rank", "cell, probe_step, depth_edge", Float32, "1",
     "exponential of the entropy of the centred states' singular values", "trajectory", kMoments,
     true},
    {"trajectory_participation_ratio", "cell, probe_step, depth_edge", Float32, "1",
     "participation ratio of the centred states' squared singular values", "trajectory", kMoments,
     true},
    {"trajectory_cka", "cell, probe_step, depth_edge, depth_edge_b", Float32, "1",
     "linear CKA between depths, debiased", "trajectory, cka", kMoments, true},
    state_row("state_cell", Text, "cell of the file of raw states"),
    state_row("state_step", Int64, "optimiser steps done at its measurement"),
    state_row("state_file", Text, "its path in the store's folder"),
    state_row("state_sha256", Text, "its seal"),
};

}  // namespace

std::span<const Variable> trajectory_variables() {
  return kTrajectoryVariables;
}

}  // namespace depthgrid
