#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "models/cell_language_model.hpp"
#include "worker/eval/eval_plan.hpp"

namespace depthgrid {

/// Comparison of the execution modes of a family that skips tokens on `valid`. Values are (E, ...),
/// modes in the order of the store's axis; NaN: not evaluated.
struct ModeResults {
  std::vector<double> loss;      // (E, modes) nats per token
  std::vector<double> executed;  // (E, modes) share of the dynamic layers' tokens
  std::vector<double> rate;      // (E, L, modes) share of each layer's tokens
  std::vector<double> mismatch;  // (E) student minus teacher, nats per token
  std::vector<double> student;   // (E, dynamic layers) shares with the default decider
};

/// The execution modes selected by the leaves `eval.modes` and `eval.deciders`; none for families
/// whose layers execute every token.
std::vector<DeclaredMode> configured_modes(const CellConfig& config, const Model& model);

/// Share of the tokens seen that each layer of a cell executed. @return (L); empty if none was seen
std::vector<double> executed_shares(const ExecutedCount& count, std::int64_t cell);

/// Mean of executed_shares() over the dynamic layers; NaN without shares, or without such layers.
double dynamic_share(const RoutingOptions& o, const std::vector<double>& shares);

/// Evaluates the execution modes of one structure. Does nothing for families whose layers execute
/// every token.
class ModeEvaluation {
 public:
  /// @param language  its default evaluation is set by calibrate().
  /// All arguments except `modes` must outlive this object.
  ModeEvaluation(const Dataset& data, const EvalPlan& plan, const Model& model,
                 CellLanguageModel& language, std::vector<DeclaredMode> modes);

  bool active() const noexcept { return !modes_.empty(); }

  /// Whether a mode is evaluated: of others, ModeResults has NaN. @param mode  of kEvalModeNames.
  bool evaluates(std::size_t mode) const;

  /// Calibrates thresholds on held-out text (dev, or train without a dev split) and applies them to
  /// the model's default evaluation. Call it before every evaluation.
  /// @param final  use as many tokens as configured; else no more than in a periodic evaluation.
  void calibrate(bool final);

  /// To be informed of each split of the default evaluation that follows calibrate(): where it has
  /// been over the windows on which modes are compared, the mode that it ran is not evaluated
  /// again.
  SplitDone listener(bool final);

  /// @param stop  asked before every batch. @return nothing once it has returned true.
  std::optional<ModeResults> evaluate(bool final, const std::function<bool()>& stop) const;

  /// Execution of a mode, with the thresholds of the last calibrate().
  Execution execution(const DeclaredMode& mode) const;

 private:
  /// What the execution of a mode gives on the windows on which modes are compared.
  struct ModeScores {
    std::vector<EvalResult> results;  // (E); empty: stopped
    ExecutedCount executed;
  };

  std::vector<at::Tensor> held_out(bool final) const;
  bool is_default(const DeclaredMode& mode) const;
  ModeScores scores(const DeclaredMode& mode, bool final, const std::function<bool()>& stop) const;

  const Dataset& data_;
  const EvalPlan& plan_;
  const Model& model_;
  CellLanguageModel& language_;
  std::vector<DeclaredMode> modes_;
  at::Tensor student_, teacher_;  // (E, dynamic layers) thresholds
  ModeScores default_;            // of the default evaluation; empty: not on these windows
};

}  // namespace depthgrid
