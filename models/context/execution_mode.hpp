#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace depthgrid {

/// How the layers that may skip tokens are executed in one pass.
enum class ExecutionMode : std::uint8_t {
  Dense,             ///< every token passes through every block
  TeacherTopk,       ///< the k highest of the sequence's scores: looks ahead
  TeacherThreshold,  ///< a score after the block against a threshold: causal, saves nothing
  Student,           ///< a causal router decides before the block
  Random,            ///< each token with probability γ, whatever it holds
  SkipAll,           ///< no token
  Forced             ///< masks from outside
};

/// How a student turns a router's probability into a decision.
enum class Decider : std::uint8_t {
  Threshold,    ///< above a fixed threshold
  Calibrated,   ///< above a threshold of the layer, the (1 − γ)-quantile on held-out text
  RunningTopk,  ///< among the k(t) highest of the tokens so far; decisions are never revised
  Forced        ///< masks from outside
};

/// Words of `eval.modes`, in the order of the enumeration; `forced` has no leaf.
constexpr std::array<std::string_view, 7> kExecutionModeNames = {
    "dense", "teacher_topk", "teacher_threshold", "student", "random", "skip_all", "forced"};

/// Words of `eval.deciders` and `model.tdt.decider`.
constexpr std::array<std::string_view, 4> kDeciderNames = {"threshold", "calibrated",
                                                           "running_topk", "forced"};

constexpr std::string_view name_of(ExecutionMode mode) noexcept {
  return kExecutionModeNames[static_cast<std::size_t>(mode)];
}

constexpr std::string_view name_of(Decider decider) noexcept {
  return kDeciderNames[static_cast<std::size_t>(decider)];
}

/// One way in which a family can be executed, and whether a prediction may then be called one.
/// Source: the declaration that an audit checks; a mode without declaration must be causal.
struct DeclaredMode {
  std::string_view name;  ///< as on the store's axis eval_mode: "student_calibrated"
  ExecutionMode mode = ExecutionMode::Dense;
  std::optional<Decider> decider = {};  ///< of students
  bool causal = true;
  std::string_view reason = {};  ///< why it is not causal; empty otherwise
};

}  // namespace depthgrid
