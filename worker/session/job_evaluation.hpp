#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "storage/cells/cell_file.hpp"
#include "worker/eval/control_evaluation.hpp"
#include "worker/eval/eval_plan.hpp"
#include "worker/eval/mode_evaluation.hpp"
#include "worker/eval/steering_evaluation.hpp"
#include "worker/session/early_stop.hpp"
#include "worker/session/session_recorder.hpp"
#include "worker/session/session_service.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// Results of a job's last evaluation.
struct FinalResults {
  SplitResults splits;
  std::optional<ModeResults> modes;
  std::array<std::vector<ControlFigures>, 4> control{};  // by Split, (E); of cells with labels
  std::vector<SteeringFigures> steering{};               // (E); of cells with prompts
  std::vector<double> neutral_costs{};                   // (E); of cells with either
  std::vector<double> bypass_costs{};                    // (E); of cells with a flow
};

/// Evaluates a job while it trains and at its end. After an evaluation, cells without progress
/// stop.
class JobEvaluation final : public SessionService {
 public:
  /// All outlive this.
  JobEvaluation(TrainedJob& job, EarlyStop& early_stop, SessionRecorder& recorder);

  const EvalPlan& plan() const noexcept { return plan_; }
  const ModeEvaluation& modes() const noexcept { return modes_; }

  void begin(std::int64_t step) override {
    if (step == 0 && due(0)) evaluate(0);
  }
  bool due(std::int64_t step) const override { return plan_.due(step, job_.steps()); }
  void act(const StepEvent& event) override { evaluate(event.step); }

  /// The evaluation after the last step. @return nothing if a signal arrived.
  std::optional<FinalResults> final();

  /// The first loss of cell e, of a split, a mode or the published protocol, for which a training
  /// step would have ended it as diverged: one that is not finite, or above train.diverged_above.
  /// Those of its last periodic evaluation count, too: where nothing is evaluated in full, they are
  /// its last figures.
  std::optional<double> unsound(std::size_t e, const FinalResults& results) const;

  /// The variables final_* of cell e.
  void set_final(CellFacts& facts, std::size_t e, const FinalResults& results) const;

 private:
  /// One evaluation in the course of training.
  struct Periodic {
    SplitResults splits;
    std::optional<ModeResults> modes;
    std::optional<std::vector<double>> published;  // (E)
  };

  /// @return false if a signal arrived.
  bool evaluate_control(FinalResults& results, const std::function<bool()>& stopped);
  void keep_rows();
  void evaluate(std::int64_t step);
  /// @param index  of the evaluation, which draws the windows of the published protocol.
  Periodic periodic(std::int64_t index);
  /// unsound() of one evaluation.
  std::optional<double> unsound_in(std::size_t e, const SplitResults& splits,
                                   const std::optional<ModeResults>& modes) const;
  std::optional<double> unsound_in(std::size_t e, const Periodic& periodic) const;
  /// Of a finite loss above 709 the perplexity is not finite.
  bool sound(std::size_t e, double loss) const;

  TrainedJob& job_;
  EarlyStop& early_stop_;
  SessionRecorder& recorder_;
  EvalPlan plan_;
  ModeEvaluation modes_;
  std::int64_t made_ = 0;  // evaluations, including those of earlier attempts
  double seconds_ = 0;     // that the last one took
  /// Of each cell's last periodic evaluation; by cell, none before its first here.
  std::map<std::size_t, std::optional<double>> unsound_;
};

}  // namespace depthgrid
