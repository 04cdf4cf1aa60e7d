#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kOfExponents = "cell, probe_step, lyapunov_variant, exponent";
constexpr std::string_view kOfCells = "cell, probe_step";
constexpr std::string_view kOfSteps = "cell, probe_step, depth";

/// A number of the probe of exponents.
constexpr Variable exponents_row(std::string_view name, std::string_view dims,
                                 std::string_view long_name, std::string_view source,
                                 DataType type = Float64) {
  return {name, dims, type, "1", long_name, "lyapunov", source, true};
}

constexpr std::string_view kProbePair = "core/probe/lyapunov/lyapunov_probe.hpp";
constexpr std::string_view kFiniteTime = "core/probe/lyapunov/finite_time.hpp";
constexpr std::string_view kDepthSpectrum = "core/probe/lyapunov/depth_spectrum.hpp";

constexpr Variable kLyapunovVariables[] = {
    exponents_row("lyapunov_exponent", kOfExponents,
                  "finite-time exponent per unit depth-time, mean over sequences", kProbePair),
    exponents_row("lyapunov_exponent_std", kOfExponents, "spread over sequences", kProbePair),
    exponents_row("lyapunov_exponent_error", kOfExponents,
                  "convergence error of the subspace iteration", kFiniteTime),
    exponents_row("lyapunov_exponent_bound", kOfExponents,
                  "distance within which some exponent lies, by the residual; NaN = unknown",
                  kFiniteTime),
    exponents_row("lyapunov_log_stretch", kOfExponents, "ln of the singular value over all depth",
                  kFiniteTime),
    exponents_row("lyapunov_iterations", kOfCells, "iterations used", kFiniteTime, Int32),
    exponents_row("lyapunov_converged", kOfCells, "flag: 0 not reached, 1 tolerance reached",
                  kFiniteTime, Int8),
    exponents_row("lyapunov_sequences", kOfCells, "sequences averaged over", kProbePair, Int32),
    exponents_row("lyapunov_upper_bound", kOfCells, "integral of the log-norm μ₂", kDepthSpectrum),
    exponents_row("lyapunov_log_det", kOfCells, "ln abs det of the depth; NaN when too large",
                  kFiniteTime),
    exponents_row("lyapunov_kaplan_yorke", kOfCells, "Kaplan–Yorke dimension; NaN = undetermined",
                  "core/probe/lyapunov/kaplan_yorke.hpp"),
    exponents_row("lyapunov_batch_max", kOfCells, "largest exponent over the sequences",
                  kProbePair),
    exponents_row("lyapunov_local_stretch", kOfSteps,
                  "ln of the largest singular value of one step map",
                  "core/probe/lyapunov/lanczos.hpp"),
    exponents_row("lyapunov_local_rate", "cell, probe_step, depth, exponent",
                  "aligned QR rate ln R_ii of one step", "core/probe/lyapunov/depth_spectrum.hpp"),
    exponents_row("lyapunov_log_norm", kOfSteps, "μ₂ of the field's Jacobian",
                  "core/probe/lyapunov/lanczos.hpp"),
    exponents_row("lyapunov_influence", "cell, probe_step, token_position",
                  "squared influence of an input token on the last output",
                  "core/probe/lyapunov/depth_spectrum.hpp"),
    exponents_row("lyapunov_tong", "cell, probe_step, token_position",
                  "published procedure, for replication only",
                  "core/probe/lyapunov/tong_procedure.hpp"),
};

std::span<const Variable> lyapunov_variables() {
  return kLyapunovVariables;
}

}  // namespace depthgrid
