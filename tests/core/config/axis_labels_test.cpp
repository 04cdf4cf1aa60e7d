#include "core/config/axis_labels.hpp"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/schema.hpp"
#include "core/config/schema/leaf_value.hpp"

namespace depthgrid {
namespace axis_labels_test {

using Words = std::set<std::string>;

Words words_of(std::string_view leaf) {
  const auto words = split_words(schema()[leaf_index(leaf)].words);
  return {words.begin(), words.end()};
}

Words all_but(std::span<const std::string_view> names, std::string_view left_out) {
  Words out(names.begin(), names.end());
  out.erase(std::string(left_out));
  return out;
}

TEST(AxisLabels, ParameterGroupsHaveTheirNames) {
  using enum ParameterGroup;
  const std::vector<ParameterGroup> order = {
      Trunk, Embedding, Head, Norm,    Bias, Modulation, Hypernet, Ssm,      Field,
      Alpha, Residual,  Gain, Control, Tpn,  Scalars,    Router,   Predictor};
  std::string names;
  for (const ParameterGroup group : order) names += std::string(name_of(group)) + " ";

  EXPECT_EQ(order.size(), kParameterGroupCount);
  EXPECT_EQ(names,
            "trunk embedding head norm bias modulation hypernet ssm field alpha residual gain "
            "control tpn scalars router predictor ");
}

TEST(AxisLabels, SplitsHaveTheirNames) {
  EXPECT_EQ(name_of(Split::Train), "train");
  EXPECT_EQ(name_of(Split::Dev), "dev");
  EXPECT_EQ(name_of(Split::Valid), "valid");
  EXPECT_EQ(name_of(Split::Test), "test");
}

TEST(AxisLabels, ModesAndDecidersHaveTheirNames) {
  EXPECT_EQ(name_of(ExecutionMode::Dense), "dense");
  EXPECT_EQ(name_of(ExecutionMode::TeacherTopk), "teacher_topk");
  EXPECT_EQ(name_of(ExecutionMode::TeacherThreshold), "teacher_threshold");
  EXPECT_EQ(name_of(ExecutionMode::Student), "student");
  EXPECT_EQ(name_of(ExecutionMode::Random), "random");
  EXPECT_EQ(name_of(ExecutionMode::SkipAll), "skip_all");
  EXPECT_EQ(name_of(ExecutionMode::Forced), "forced");
  EXPECT_EQ(name_of(Decider::Threshold), "threshold");
  EXPECT_EQ(name_of(Decider::Calibrated), "calibrated");
  EXPECT_EQ(name_of(Decider::RunningTopk), "running_topk");
  EXPECT_EQ(name_of(Decider::Forced), "forced");
}

TEST(AxisLabels, EventsAndOutcomesHaveTheirNames) {
  const auto event = [](EventKind kind) { return kEventKindNames[static_cast<std::size_t>(kind)]; };
  const auto outcome = [](AttemptOutcome how) {
    return kAttemptOutcomeNames[static_cast<std::size_t>(how)];
  };

  EXPECT_EQ(event(EventKind::ResumeSeam), "resume_seam");
  EXPECT_EQ(event(EventKind::Checkpoint), "checkpoint");
  EXPECT_EQ(event(EventKind::CheckpointRejected), "checkpoint_rejected");
  EXPECT_EQ(event(EventKind::Diverged), "diverged");
  EXPECT_EQ(event(EventKind::Failure), "failure");
  EXPECT_EQ(event(EventKind::EarlyStop), "early_stop");
  EXPECT_EQ(event(EventKind::LeaseLost), "lease_lost");
  EXPECT_EQ(event(EventKind::TeamSizeChanged), "team_size_changed");
  EXPECT_EQ(event(EventKind::SolverStatus), "solver_status");
  EXPECT_EQ(event(EventKind::PhaseChange), "phase_change");
  EXPECT_EQ(event(EventKind::Warning), "warning");
  EXPECT_EQ(event(EventKind::StartWeights), "start_weights");
  EXPECT_EQ(event(EventKind::Damage), "damage");
  EXPECT_EQ(outcome(AttemptOutcome::Done), "done");
  EXPECT_EQ(outcome(AttemptOutcome::Preempted), "preempted");
  EXPECT_EQ(outcome(AttemptOutcome::Crash), "crash");
  EXPECT_EQ(outcome(AttemptOutcome::Hang), "hang");
  EXPECT_EQ(outcome(AttemptOutcome::Oom), "oom");
  EXPECT_EQ(outcome(AttemptOutcome::Infrastructure), "infrastructure");
  EXPECT_EQ(outcome(AttemptOutcome::Error), "error");
  EXPECT_EQ(outcome(AttemptOutcome::Deposed), "deposed");
  EXPECT_EQ(outcome(AttemptOutcome::Diverged), "diverged");
}

TEST(AxisLabels, LeavesTakeTheNamesAsWords) {
  EXPECT_EQ(words_of("train.no_decay"), all_but(kParameterGroupNames, ""));
  EXPECT_EQ(words_of("eval.modes"), all_but(kExecutionModeNames, "forced"));
  EXPECT_EQ(words_of("eval.deciders"), all_but(kDeciderNames, "forced"));
  EXPECT_EQ(words_of("model.tdt.decider"), all_but(kDeciderNames, "forced"));
  EXPECT_EQ(words_of("eval.splits"), all_but(kSplitNames, "test"));
  EXPECT_EQ(words_of("eval.final_splits"), all_but(kSplitNames, "train"));
}

TEST(AxisLabels, EveryGroupAndEveryCheckHasItsLeaves) {
  Words groups, checks;
  for (const Leaf& leaf : schema()) {
    const std::string path(leaf.path);
    if (path.starts_with("audit.")) checks.insert(path.substr(6));
    if (!path.starts_with("train.groups.")) continue;
    groups.insert(path.substr(13, path.rfind('.') - 13));
  }

  EXPECT_EQ(groups, all_but(kParameterGroupNames, ""));
  EXPECT_EQ(checks, all_but(kAuditCheckNames, ""));
  for (const std::string_view group : kParameterGroupNames) {
    for (const char* leaf : {".lr", ".weight_decay", ".frozen"}) {
      EXPECT_NO_THROW(leaf_index("train.groups." + std::string(group) + leaf));
    }
  }
}

}  // namespace axis_labels_test
}  // namespace depthgrid
