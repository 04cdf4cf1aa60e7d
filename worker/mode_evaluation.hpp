#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "models/routing/routing_statistics.hpp"
#include "worker/eval_plan.hpp"
#include "worker/fused_model.hpp"

namespace depthgrid {

/// Ways of executing a family that skips tokens, side by side on `valid`, and what its gates and
/// routers do. Values are (E, ...), the modes in the order of the store's axis; NaN: not evaluated.
struct ModeResults {
  std::vector<double> loss;                  // (E, modes) nats per token
  std::vector<double> executed;              // (E, modes) share of the dynamic layers' tokens
  std::vector<double> rate;                  // (E, L, modes)
  std::vector<double> mismatch;              // (E) student less teacher, nats per token
  std::vector<double> student;               // (E) share that the default decider executes
  std::vector<RoutingStatistic> statistics;  // (E, L) each; of periodic evaluations
};

/// Leaves `eval.modes` and `eval.deciders` of one structure. Does nothing for families whose layers
/// execute every token.
class ModeEvaluation {
 public:
  /// All must outlive it.
  ModeEvaluation(const CellConfig& config, const Dataset& data, const EvalPlan& plan,
                 FusedModel& fused);

  bool active() const noexcept { return !modes_.empty(); }

  /// Names of ModeResults::statistics.
  std::vector<std::string_view> statistics() const;

  /// Takes thresholds from held-out text (dev, or train where there is none) and puts the model's
  /// default evaluation under them. Call it before every evaluation.
  /// @param final  from as many tokens as configured, else from no more than a periodic evaluation.
  void calibrate(bool final);

  /// @param stop  asked before every batch. @return nothing once it has said yes.
  std::optional<ModeResults> evaluate(bool final, const std::function<bool()>& stop) const;

 private:
  std::vector<at::Tensor> held_out(bool final) const;
  Execution execution(const DeclaredMode& mode) const;
  std::vector<RoutingStatistic> probe() const;

  const Dataset& data_;
  const EvalPlan& plan_;
  FusedModel& fused_;
  std::vector<DeclaredMode> modes_;
  at::Tensor student_, teacher_;  // (E, dynamic layers) thresholds
  at::Tensor text_;               // (n, T) what is looked at
};

}  // namespace depthgrid
