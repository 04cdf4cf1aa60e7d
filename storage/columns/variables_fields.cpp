#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kSolverMethods = "cell, probe_step, solver_method";
constexpr std::string_view kSolverComparison = "core/probe/solver/solver_comparison.hpp";
constexpr std::string_view kAdaptiveSolve = "core/probe/solver/adaptive_solve.hpp";
constexpr std::string_view kSolverPredictions = "core/probe/solver/solver_probe.cpp";
constexpr std::string_view kNegativeControl = "core/probe/solver/independent_layers.hpp";
constexpr std::string_view kSsmTransitions = "core/probe/ssm/transitions.hpp";
constexpr std::string_view kSsmSteps = "cell, probe_step, depth";
constexpr std::string_view kSsmStates = "cell, probe_step, depth, ssm_state";

constexpr Variable solver_row(std::string_view name, std::string_view long_name,
                              std::string_view source, DataType type = Float64,
                              std::string_view units = "1") {
  return {name, kSolverMethods, type, units, long_name, "solver", source, true};
}

constexpr Variable ssm_row(std::string_view name, std::string_view dims, std::string_view long_name,
                           std::string_view source) {
  return {name, dims, Float32, "1", long_name, "ssm", source, true};
}

constexpr Variable kFieldVariables[] = {
    solver_row("solver_divergence_state", "distance from the reference over the state norm",
               kSolverComparison),
    solver_row("solver_divergence_displacement",
               "distance from the reference over the displacement", kSolverComparison),
    solver_row("solver_observed_order", "order seen under halving of the step", kSolverComparison),
    solver_row("solver_evaluations", "field evaluations", kAdaptiveSolve, Int64),
    solver_row("solver_accepted", "accepted steps", kAdaptiveSolve, Int64),
    solver_row("solver_rejected", "rejected steps", kAdaptiveSolve, Int64),
    solver_row("solver_status", "flag: 0 done, 1 max_steps, 2 min_step, 3 nonfinite",
               kAdaptiveSolve, Int8),
    solver_row("solver_reached", "depth-time up to which the method's state is sound",
               kAdaptiveSolve),
    solver_row("solver_kl", "divergence of the next-token distributions from the reference's",
               kSolverPredictions, Float64, "nat"),
    solver_row("solver_loss_change", "loss less that of the reference", kSolverPredictions, Float64,
               "nat"),
    solver_row("solver_control_divergence",
               "negative control of independent layers: distance over the displacement",
               kNegativeControl),
    solver_row("solver_control_order", "negative control: order seen under halving of the step",
               kNegativeControl),
    {"solver_continuous", "cell, probe_step", Int8, "1",
     "flag: 0 undecided, 1 continuous, 2 not; by rk4's distance and order", "solver",
     kSolverComparison, true},
    {"solver_own_divergence", "cell, probe_step", Float64, "1",
     "distance of the model's own method and steps from the reference over the displacement",
     "solver", kSolverComparison, true},
    {"solver_invariant", "cell, probe_step", Int8, "1",
     "flag: 0 undecided, 1 invariant, 2 not; by the distance of the model's own steps", "solver",
     kSolverComparison, true},
    {"solver_velocity", "cell, probe_step, flow_time", Float64, "1",
     "RMS of dH/dτ over tokens and channels, of the solution", "solver",
     "core/probe/solver/solver_probe.hpp", true},
    ssm_row("ssm_delta", kSsmStates, "step of each state in tokens",
            "core/probe/probe_subject.hpp"),
    ssm_row("ssm_spectral_radius", kSsmSteps, "spectral radius of the discrete transition",
            kSsmTransitions),
    ssm_row("ssm_memory_horizon", kSsmSteps,
            "tokens until the slowest state falls to 1/e; NaN = it never does", kSsmTransitions),
    ssm_row("ssm_eigenvalue_real", kSsmStates, "eigenvalues of the discrete transition, real part",
            kSsmTransitions),
    ssm_row("ssm_eigenvalue_imag", kSsmStates,
            "eigenvalues of the discrete transition, imaginary part", kSsmTransitions),
    ssm_row("ssm_state_norm", kSsmSteps, "RMS of the states over the probe set",
            "core/probe/ssm/ssm_probe.hpp"),
};

std::span<const Variable> field_variables() {
  return kFieldVariables;
}

}  // namespace depthgrid
