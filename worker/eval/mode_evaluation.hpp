#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "models/cell_language_model.hpp"
#include "models/routing/routing_statistics.hpp"
#include "worker/eval/eval_plan.hpp"

namespace depthgrid {

/// Ways of executing a family that skips tokens, side by side on `valid`, and what its gates and
/// routers do. Values are (E, ...), the modes in the order of the store's axis; NaN: not evaluated.
struct ModeResults {
  std::vector<double> loss;                  // (E, modes) nats per token
  std::vector<double> executed;              // (E, modes) share of the dynamic layers' tokens
  std::vector<double> rate;                  // (E, L, modes)
  std::vector<double> mismatch;              // (E) student less teacher, nats per token
  std::vector<double> student;               // (E, dynamic layers) of them, by the default decider
  std::vector<RoutingStatistic> statistics;  // (E, L) each; of periodic evaluations
};

/// The ways of executing the family that leaves `eval.modes` and `eval.deciders` name; none for
/// families whose layers execute every token.
std::vector<DeclaredMode> configured_modes(const CellConfig& config, const Model& model);

/// Share of the tokens seen that each layer of a cell has executed. @return (L)
std::vector<double> executed_shares(const ExecutedCount& count, std::int64_t cell);

/// Mean of executed_shares() over the dynamic layers.
double dynamic_share(const RoutingOptions& o, const std::vector<double>& shares);

/// Evaluates ways of executing one structure. Does nothing for families whose layers execute every
/// token.
class ModeEvaluation {
 public:
  /// @param language  the default evaluation, which calibrate() sets.
  /// All but `modes` must outlive it.
  ModeEvaluation(const Dataset& data, const EvalPlan& plan, const Model& model,
                 CellLanguageModel& language, std::vector<DeclaredMode> modes);

  bool active() const noexcept { return !modes_.empty(); }

  /// Names of ModeResults::statistics.
  std::vector<std::string_view> statistics() const;

  /// Takes thresholds from held-out text (dev, or train where there is none) and puts the model's
  /// default evaluation under them. Call it before every evaluation.
  /// @param final  from as many tokens as configured, else from no more than a periodic evaluation.
  void calibrate(bool final);

  /// @param stop  asked before every batch. @return nothing once it has said yes.
  std::optional<ModeResults> evaluate(bool final, const std::function<bool()>& stop) const;

  /// How a mode is run, with the thresholds of the last calibrate().
  Execution execution(const DeclaredMode& mode) const;

 private:
  std::vector<at::Tensor> held_out(bool final) const;
  std::vector<RoutingStatistic> probe() const;

  const Dataset& data_;
  const EvalPlan& plan_;
  const Model& model_;
  CellLanguageModel& language_;
  std::vector<DeclaredMode> modes_;
  at::Tensor student_, teacher_;  // (E, dynamic layers) thresholds
  at::Tensor text_;               // (n, T) what is looked at
};

}  // namespace depthgrid
