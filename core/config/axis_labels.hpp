#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace depthgrid {

// The program's single vocabulary. Each enumeration and its names have the same order, which is
// that of the store's axes and flags. Append new names and never reorder existing ones, or columns
// of older files would be read under the wrong label.

/// Index of a label in a list; labels.size() if it is not there.
constexpr std::size_t label_index(std::span<const std::string_view> labels,
                                  std::string_view label) noexcept {
  return static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin());
}

/// Purpose of a parameter: axis `parameter_group`. Rates, decay, freezing and gradient norms are
/// per group.
enum class ParameterGroup : std::uint8_t {
  Trunk,
  Embedding,
  Head,
  Norm,
  Bias,
  Modulation,
  Hypernet,
  Ssm,
  Field,
  Alpha,
  Residual,
  Gain,
  Control,
  Tpn,
  Scalars,
  Router,
  Predictor
};
inline constexpr std::size_t kParameterGroupCount = 17;
inline constexpr std::array<std::string_view, kParameterGroupCount> kParameterGroupNames = {
    "trunk", "embedding", "head", "norm",    "bias", "modulation", "hypernet", "ssm",      "field",
    "alpha", "residual",  "gain", "control", "tpn",  "scalars",    "router",   "predictor"};
constexpr std::string_view name_of(ParameterGroup group) noexcept {
  return kParameterGroupNames[static_cast<std::size_t>(group)];
}

/// Attributes that a sentence has by a rule (core/data/labels): words of `model.control.names` with
/// `train.control.labels.source: rules`.
inline constexpr std::array<std::string_view, 8> kRuleAttributeNames = {
    "long", "digits", "passive", "quote", "comma", "parenthesis", "capitals", "masculine"};

/// What is asked of a steered model, and under which signal: axes `steering_part` and
/// `steering_signal`.
inline constexpr std::array<std::string_view, 3> kSteeringPartNames = {"train", "heldout", "text"};
inline constexpr std::array<std::string_view, 3> kSteeringSignalNames = {"plus", "zero", "minus"};

/// Part of a corpus: axis `split`.
enum class Split : std::uint8_t { Train, Dev, Valid, Test };
inline constexpr std::array<std::string_view, 4> kSplitNames = {"train", "dev", "valid", "test"};
constexpr std::string_view name_of(Split split) noexcept {
  return kSplitNames[static_cast<std::size_t>(split)];
}

/// Checks of the audit, in the order of the axis `audit_check`; the leaves are audit.NAME.
inline constexpr std::array<std::string_view, 13> kAuditCheckNames = {
    "causality",     "declaration",  "batch_independence", "parameter_count",
    "gradient_flow", "initial_loss", "overfit_batch",      "entropy_floor",
    "fusion",        "scores",       "positions",          "training_step",
    "leaves"};

/// How layers that may skip tokens are executed in a pass: words of `eval.modes`; `forced`
/// has no leaf.
enum class ExecutionMode : std::uint8_t {
  Dense,             ///< every token passes through every block
  TeacherTopk,       ///< the k highest scores of the sequence: looks ahead
  TeacherThreshold,  ///< a score after the block against a threshold: causal, saves nothing
  Student,           ///< a causal router decides before the block
  Random,            ///< each token with probability γ, independent of its content
  SkipAll,           ///< no token
  Forced             ///< masks given by the caller
};
inline constexpr std::array<std::string_view, 7> kExecutionModeNames = {
    "dense", "teacher_topk", "teacher_threshold", "student", "random", "skip_all", "forced"};
constexpr std::string_view name_of(ExecutionMode mode) noexcept {
  return kExecutionModeNames[static_cast<std::size_t>(mode)];
}

/// How a student turns a router's probability into a decision: words of `eval.deciders` and
/// `model.tdt.decider`.
enum class Decider : std::uint8_t {
  Threshold,    ///< above a fixed threshold
  Calibrated,   ///< above a threshold of the layer, the (1 − γ)-quantile on held-out text
  RunningTopk,  ///< among the k(t) highest of the tokens so far; decisions are never revised
  Forced        ///< masks given by the caller
};
inline constexpr std::array<std::string_view, 4> kDeciderNames = {"threshold", "calibrated",
                                                                  "running_topk", "forced"};
constexpr std::string_view name_of(Decider decider) noexcept {
  return kDeciderNames[static_cast<std::size_t>(decider)];
}

/// Modes of execution as families name them: a mode, a student with its decider, or a name of the
/// family's own; in the order of the axis `eval_mode`.
inline constexpr std::array<std::string_view, 10> kEvalModeNames = {"dense",
                                                                    "teacher_topk",
                                                                    "teacher_threshold",
                                                                    "student_threshold",
                                                                    "student_calibrated",
                                                                    "student_running_topk",
                                                                    "random",
                                                                    "skip_all",
                                                                    "predictor",
                                                                    "topk"};

/// Types of weight that probes distinguish: axis `weight_type`.
inline constexpr std::array<std::string_view, 6> kWeightTypeNames = {"q",   "k",  "v",
                                                                     "out", "up", "down"};
/// The same and those of state-space layers, which only models that gate them have on the axis.
inline constexpr std::array<std::string_view, 11> kAllWeightTypeNames = {
    "q", "k", "v", "out", "up", "down", "A", "B", "C", "D", "dt"};

/// Tokens over which a statistic is averaged: axis `token_class`, words of
/// `probes.trajectory.classes`.
inline constexpr std::array<std::string_view, 5> kTokenClassNames = {"all", "first", "frequent",
                                                                     "rare", "space"};

/// Probes, in the order of their table (worker/session/probe_table.cpp): axis `probe`.
inline constexpr std::array<std::string_view, 10> kProbeNames = {
    "trajectory", "gates",     "routing", "gradients", "logit_lens",
    "lyapunov",   "attention", "weights", "solver",    "ssm"};

/// Words of the leaf `probes.lyapunov.variants`: axis `lyapunov_variant`.
inline constexpr std::array<std::string_view, 3> kLyapunovVariantNames = {"raw", "normalised",
                                                                          "relative"};

/// Words of the leaf `probes.solver.methods`: axis `solver_method`.
inline constexpr std::array<std::string_view, 4> kSolverMethodNames = {"euler_m", "euler_2m", "rk4",
                                                                       "dopri5"};

/// What happens to a cell while it trains: flag `event_kind`.
enum class EventKind : std::uint8_t {
  ResumeSeam,
  Checkpoint,
  CheckpointRejected,
  Diverged,
  Failure,
  EarlyStop,
  LeaseLost,
  TeamSizeChanged,
  SolverStatus,
  PhaseChange,
  Warning,
  StartWeights,
  Damage
};
inline constexpr std::array<std::string_view, 13> kEventKindNames = {
    "resume_seam",  "checkpoint",        "checkpoint_rejected",
    "diverged",     "failure",           "early_stop",
    "lease_lost",   "team_size_changed", "solver_status",
    "phase_change", "warning",           "start_weights",
    "damage"};

/// How an attempt ends: flag `attempt_outcome`.
enum class AttemptOutcome : std::uint8_t {
  Done,
  Preempted,
  Crash,
  Hang,
  Oom,
  Infrastructure,
  Error,
  Deposed,
  Diverged
};
inline constexpr std::array<std::string_view, 9> kAttemptOutcomeNames = {
    "done", "preempted", "crash", "hang", "oom", "infrastructure", "error", "deposed", "diverged"};

}  // namespace depthgrid
