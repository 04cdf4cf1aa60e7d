// The session of a fused job with all its services, in a store: what is recorded, when it is
// evaluated, which checkpoints stay, and how an attempt takes over from another.
#include "worker/session/job_session.hpp"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/config/axis_labels.hpp"
#include "tests/worker/session/small_run.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/session/final_weights.hpp"
#include "worker/session/probe_table.hpp"

namespace depthgrid::testing {
namespace job_session_test {

using Steps = std::vector<std::int64_t>;

SessionEnd train(SmallRun& small, Claim claim) {
  return JobSession(small.run, claim.job, claim.cells).run();
}

TEST(JobSession, TrainsTheCellsOfAJobToTheirResults) {
  SmallRun small;
  ASSERT_EQ(train(small, small.claim()), SessionEnd::Done);

  for (const std::size_t row : {0U, 1U}) {
    EXPECT_TRUE(small.store.completed(small.sweep.cells[row].id));
    EXPECT_EQ(small.history(row).find("train")->rows.steps, (Steps{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(small.history(row).find("eval")->rows.steps, (Steps{0, 3, 6}));
    EXPECT_EQ(small.events(row, EventKind::ResumeSeam), 0U);
    // 4 by checkpoint.every; 6 is the end, and the only one that is kept.
    EXPECT_EQ(small.checkpoints(row), Steps{6});
    const TableReader result(small.folder(row) / "result.h5");
    EXPECT_EQ(result.read("train_tokens").number(5), 6 * 2 * 8);
  }
}

// Each cell is charged its share of what they do together.
TEST(JobSession, TheCostsOfTheCellsAddUpToTheTimeOfTheJob) {
  SmallRun small;
  const Stopwatch clock;
  ASSERT_EQ(train(small, small.claim()), SessionEnd::Done);
  const double spent = clock.seconds();

  double wall = 0, device = 0, other = 0;
  for (const std::size_t row : {0U, 1U}) {
    const TableReader result(small.folder(row) / "result.h5");
    wall += result.read("cost_wall_time").number(0);
    device += result.read("cost_device_time").number(0);
    for (const char* part : {"cost_eval_time", "cost_checkpoint_time", "cost_probe_time"}) {
      other += result.read(part).number(0);
    }
  }
  const double training = small.column(0, "train", "train_wall_time").back();
  EXPECT_NEAR(device, training, 1e-9);
  EXPECT_NEAR(wall, training + other, 1e-9);
  EXPECT_GT(other, 0);
  EXPECT_LT(wall, spent);
}

/// Seconds by probe in a cell's result, and their sum under "".
std::map<std::string, double> probe_seconds(const SmallRun& small, std::size_t row) {
  const TableReader result(small.folder(row) / "result.h5");
  const VariableColumn each = result.read("cost_probe_time_each"), names = result.read("probe");
  std::map<std::string, double> out;
  for (std::size_t i = 0; i < names.items(); ++i) {
    out[std::string(names.text(i))] = each.number(i);
    out[""] += each.number(i);
  }
  return out;
}

TEST(JobSession, TheTimesOfTheProbesAddUpToThatOfAll) {
  SmallRun small({.set = {"probes.attention.schedule=off"}});
  ASSERT_EQ(train(small, small.claim()), SessionEnd::Done);

  for (const std::size_t row : {0U, 1U}) {
    std::map<std::string, double> each = probe_seconds(small, row);
    const TableReader result(small.folder(row) / "result.h5");
    EXPECT_NEAR(each[""], result.read("cost_probe_time").number(0), 1e-12);
    EXPECT_GT(each["trajectory"], 0);
    EXPECT_GT(each["weights"], 0);
    EXPECT_FALSE(each.contains("attention")) << "it is off";
    EXPECT_FALSE(each.contains("gates")) << "there are none";
  }
}

TEST(ProbeTable, HasTheNamesOfTheStoresAxisInItsOrder) {
  std::vector<std::string_view> known;
  for (const ProbeFacts& probe : known_probes()) {
    if (std::ranges::find(kProbeNames, probe.name) != kProbeNames.end()) {
      known.emplace_back(probe.name);
    }
  }
  EXPECT_TRUE(std::ranges::equal(known, kProbeNames));
}

TEST(JobSession, ACellRecordsTheSameNumbersAloneAndFused) {
  SmallRun fused, alone;
  train(fused, fused.claim({0, 1}));
  train(alone, alone.claim({0}));
  train(alone, alone.claim({1}));

  for (const std::size_t row : {0U, 1U}) {
    for (const char* name : {"train_loss", "train_grad_norm", "train_update_norm"}) {
      EXPECT_EQ(fused.column(row, "train", name), alone.column(row, "train", name)) << name;
    }
    const CellId& id = fused.sweep.cells[row].id;
    EXPECT_EQ(last_weights_digest(fused.store, id), last_weights_digest(alone.store, id));
  }
  EXPECT_NE(fused.column(0, "train", "train_loss"), fused.column(1, "train", "train_loss"));
}

/// In a process of its own, since nothing takes a signal back.
[[noreturn]] void stop_after_one_step(const std::filesystem::path& folder) {
  watch_stop_signals();
  SmallRun small({.folder = folder});
  Claim claim = small.claim();
  JobSession session(small.run, claim.job, claim.cells);
  std::raise(SIGTERM);
  std::exit(session.run() == SessionEnd::Stopped ? 75 : 1);
}

TEST(JobSession, AnAttemptTakesOverFromTheCheckpointOfTheOneBefore) {
  GTEST_FLAG_SET(death_test_style,
                 "threadsafe");  // the other process runs this test from its start
  const TemporaryFolder scratch;
  setenv("DEPTHGRID_TEST_FOLDER", scratch.path().c_str(), 0);
  const std::filesystem::path folder = std::getenv("DEPTHGRID_TEST_FOLDER");
  EXPECT_EXIT(stop_after_one_step(folder), ::testing::ExitedWithCode(75), "");
  unsetenv("DEPTHGRID_TEST_FOLDER");
  SmallRun whole, cut({.folder = folder});
  train(whole, whole.claim());
  EXPECT_EQ(cut.checkpoints(0), Steps{1});
  EXPECT_FALSE(cut.store.completed(cut.sweep.cells[0].id));
  EXPECT_EQ(cut.history(0).attempts.back().end->outcome, AttemptOutcome::Preempted);

  Claim again = cut.claim();
  EXPECT_EQ(again.job.first_step, 1);
  std::map<std::string, double> before;  // a look at step 0
  for (const char* probe : {"trajectory", "gradients"}) {
    before[probe] = again.cells.at(0).state->numbers.at(std::string("probe.") + probe);
    EXPECT_GT(before[probe], 0);
  }
  EXPECT_TRUE(again.cells.at(0).state->numbers.contains("gradient_clipped"))
      << "what a watch of a probe has counted";
  ASSERT_EQ(train(cut, std::move(again)), SessionEnd::Done);

  for (const std::size_t row : {0U, 1U}) {
    EXPECT_EQ(cut.column(row, "train", "train_loss"), whole.column(row, "train", "train_loss"));
    EXPECT_EQ(cut.column(row, "eval", "eval_loss")[4], whole.column(row, "eval", "eval_loss")[4]);
    const CellId& id = whole.sweep.cells[row].id;
    EXPECT_EQ(last_weights_digest(cut.store, id), last_weights_digest(whole.store, id));
    EXPECT_EQ(cut.events(row, EventKind::ResumeSeam), 1U);
    EXPECT_EQ(cut.history(row).replay_mismatches, 0);
  }
  for (const auto& [probe, seconds] : before) {
    EXPECT_GT(probe_seconds(cut, 0)[probe], seconds) << "and another at the end";
  }
}

/// Flows whose backward pass is not the plain one, or whose regularisers look for a direction from
/// that of the step before.
const std::map<std::string, std::vector<std::string>> kFlows = {
    {"adjoint", {"model.gradient.mode=adjoint"}},
    {"checkpoint", {"model.gradient.mode=checkpoint", "model.gradient.slots=1"}},
    {"reversible", {"model.gradient.mode=reversible", "model.solver.method=reversible_heun"}},
    {"directions", {"regularisers.spectral_norm=0.1", "regularisers.log_norm=0.1"}},
};

SmallRun::Options flow_in(const std::string& name, const std::filesystem::path& folder) {
  std::vector<std::string> set = kFlows.at(name);
  set.insert(set.end(), {"model.family=hybrid_ode", "model.n_layers=3",
                         "model.replaced_layers=[1, 2]", "model.dropout.mlp=0.1",
                         "probes.solver.schedule=off", "probes.gradients.schedule=off"});
  return {.set = std::move(set), .folder = folder};
}

[[noreturn]] void stop_flows_after_one_step(const std::filesystem::path& folder) {
  watch_stop_signals();
  std::raise(SIGTERM);
  for (const auto& [name, set] : kFlows) {
    std::filesystem::create_directories(folder / name);
    SmallRun small(flow_in(name, folder / name));
    if (train(small, small.claim()) != SessionEnd::Stopped) std::exit(1);
  }
  std::exit(75);
}

TEST(JobSession, AFlowGoesOnFromACheckpointInEveryModeOfItsGradient) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TemporaryFolder scratch;
  setenv("DEPTHGRID_TEST_FOLDER", scratch.path().c_str(), 0);
  const std::filesystem::path folder = std::getenv("DEPTHGRID_TEST_FOLDER");
  EXPECT_EXIT(stop_flows_after_one_step(folder), ::testing::ExitedWithCode(75), "");
  unsetenv("DEPTHGRID_TEST_FOLDER");
  for (const auto& [name, set] : kFlows) {
    SCOPED_TRACE(name);
    SmallRun whole(flow_in(name, {})), cut(flow_in(name, folder / name));
    ASSERT_EQ(train(whole, whole.claim()), SessionEnd::Done);
    Claim again = cut.claim();
    ASSERT_EQ(again.job.first_step, 1);
    ASSERT_EQ(train(cut, std::move(again)), SessionEnd::Done);

    for (const std::size_t row : {0U, 1U}) {
      EXPECT_EQ(cut.column(row, "train", "train_loss_total"),
                whole.column(row, "train", "train_loss_total"));
      const CellId& id = whole.sweep.cells[row].id;
      EXPECT_EQ(last_weights_digest(cut.store, id), last_weights_digest(whole.store, id));
      EXPECT_EQ(cut.history(row).replay_mismatches, 0);
    }
  }
}

TEST(JobSession, ADivergedCellEndsAndItsNeighbourGoesOn) {
  SmallRun small({.rates = "[1e-3, 1e30]", .set = {"train.clip=none"}}), calm;
  train(small, small.claim());
  train(calm, calm.claim({0}));

  EXPECT_EQ(small.events(1, EventKind::Diverged), 1U);
  EXPECT_EQ(small.column(0, "train", "train_loss").size(), 6U);
  EXPECT_LT(small.column(1, "train", "train_loss").size(), 6U);
  const TableReader ended(small.folder(1) / "result.h5");
  EXPECT_EQ(ended.read("cell_status").integer(0), static_cast<std::int64_t>(CellStatus::Diverged));
  EXPECT_TRUE(small.checkpoints(1).empty() || small.checkpoints(1).back() < 6);
}

// The last step has no step after it that would notice.
TEST(JobSession, WhatIsSaidOfATextIsKeptWithTheCell) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "text.txt";
  std::ofstream text(file);
  for (int i = 0; i < 400; ++i) text << "line " << i << '\n';
  text.close();
  SmallRun small({.data = fmt::format("{{corpus: file, path: {0}, valid: {0}, dev_fraction: 0, "
                                      "seq_len: 8}}",
                                      file.string())});
  ASSERT_EQ(train(small, small.claim()), SessionEnd::Done);

  for (const std::size_t row : {0U, 1U}) {
    EXPECT_GE(small.events(row, EventKind::Warning), 2U);
    const VariableColumn said = TableReader(small.folder(row) / "result.h5").read("event_message");
    std::string all;
    for (std::size_t i = 0; i < said.items(); ++i) all += said.text(i);
    EXPECT_NE(all.find("'train' and 'valid' have the same tokens"), std::string::npos) << all;
  }
}

TEST(JobSession, ACellWithoutProgressStopsEarly) {
  // A rate of zero: no evaluation after the first is better.
  SmallRun small({.rates = "[0, 1e-3]",
                  .set = {"train.steps=8", "eval.every=1", "train.early_stop.patience=2",
                          "checkpoint.keep_best=1"}});
  train(small, small.claim());

  EXPECT_EQ(small.events(0, EventKind::EarlyStop), 1U);
  EXPECT_EQ(small.column(0, "train", "train_loss").size(), 2U);
  EXPECT_TRUE(small.store.completed(small.sweep.cells[0].id));
  EXPECT_GE(small.checkpoints(0).back(), 2) << "its weights stay those that it stopped with";
  EXPECT_GT(small.column(1, "train", "train_loss").size(), 2U);
  // Probes that look at the end have looked at the end of this cell.
  const TableReader result(small.folder(0) / "result.h5");
  EXPECT_EQ(result.read("probe_step").number(result.read("probe_step").items() - 1), 2);
  const VariableColumn lens = result.read("logit_lens_loss");
  EXPECT_FALSE(std::isnan(lens.number(lens.items() - 1)));
}

TEST(JobSession, TheBestIsTheLowestAlthoughPatienceAsksForMore) {
  SmallRun small({.set = {"train.steps=8", "eval.every=2", "train.early_stop.min_delta=100",
                          "train.early_stop.patience=50", "checkpoint.keep_best=1",
                          "checkpoint.keep_final=false"}});
  train(small, small.claim());

  const std::vector<double> loss = small.column(0, "eval", "eval_loss");
  std::size_t best = 1;  // the evaluation of the start has no checkpoint
  for (std::size_t i = 2; i * 4 < loss.size(); ++i) {
    if (loss[i * 4 + 1] < loss[best * 4 + 1]) best = i;
  }
  EXPECT_EQ(small.checkpoints(0), Steps{2 * static_cast<std::int64_t>(best)});
}

TEST(JobSession, StopsWithACheckpointBeforeItsLeasesLapse) {
  SmallRun small;
  Claim claim = small.claim();
  JobSession session(small.run, claim.job, claim.cells);
  const std::filesystem::path heartbeat = small.folder(1) / "hb-000001";
  std::filesystem::remove(heartbeat);
  std::filesystem::create_directory(heartbeat);  // it cannot be written any more
  small.later = std::chrono::seconds(11);
  small.leases.beat_all();

  try {
    session.run();
    FAIL() << "it went on";
  } catch (const StorageError& e) {
    const std::string told =
        "the heartbeat of " + small.sweep.cells[1].alias + " could not be written";
    EXPECT_NE(std::string(e.what()).find(told), std::string::npos) << e.what();
  }
  EXPECT_EQ(small.checkpoints(0), Steps{1});
  EXPECT_EQ(small.checkpoints(1), Steps{1});
}

TEST(JobSession, WhenCheckpointsAreWrittenChangesNoNumber) {
  SmallRun often({.set = {"checkpoint.every=1"}}), never({.set = {"checkpoint.every=null"}});
  train(often, often.claim());
  train(never, never.claim());

  for (const std::size_t row : {0U, 1U}) {
    for (const char* name : {"train_loss", "train_update_norm"}) {
      EXPECT_EQ(often.column(row, "train", name), never.column(row, "train", name)) << name;
    }
    EXPECT_EQ(often.column(row, "eval", "eval_loss")[5], never.column(row, "eval", "eval_loss")[5]);
    const CellId& id = often.sweep.cells[row].id;
    EXPECT_EQ(last_weights_digest(often.store, id), last_weights_digest(never.store, id));
  }
}

TEST(JobSession, AProblemEndsTheAttemptAndFreesTheCells) {
  SmallRun small;
  {
    Claim claim = small.claim();
    JobSession session(small.run, claim.job, claim.cells);
    session.abandon({AttemptOutcome::Error, ExitCode::Failed, EventKind::Failure, 0, "went wrong"});
  }
  const CellHistory history = small.history(1);
  EXPECT_EQ(history.attempts.at(0).end->outcome, AttemptOutcome::Error);
  EXPECT_EQ(history.events.back().message, "went wrong");
  EXPECT_EQ(small.claim().cells.size(), 2U) << "the leases were released";
}

TEST(FinalWeights, AreThoseThatTheResultNames) {
  SmallRun small;
  train(small, small.claim());
  const CellId& id = small.sweep.cells[0].id;

  const FinalWeights last = final_weights(small.store, small.run.plan, id);
  EXPECT_EQ(last.step, 6);
  EXPECT_EQ(last.sha256, last_weights_digest(small.store, id));
  EXPECT_EQ(static_cast<std::int64_t>(last.values.size()), last.layout.size());

  std::filesystem::remove(list_checkpoints(small.folder(0)).front().file);
  EXPECT_THROW(final_weights(small.store, small.run.plan, id), Error);
  EXPECT_THROW(final_weights(small.store, small.run.plan, "0123456789ab"), Error);
}

// What starts from a cell never gets the weights of an earlier step.
TEST(FinalWeights, AreNotThoseOfAnEarlierCheckpoint) {
  SmallRun small({.set = {"checkpoint.keep_at=[2]"}});
  train(small, small.claim());
  const CellId& id = small.sweep.cells[0].id;
  ASSERT_EQ(small.checkpoints(0), (Steps{2, 6}));
  EXPECT_EQ(final_weights(small.store, small.run.plan, id).step, 6);

  std::filesystem::remove(list_checkpoints(small.folder(0)).front().file);
  ASSERT_EQ(small.checkpoints(0), Steps{2});
  try {
    final_weights(small.store, small.run.plan, id);
    FAIL() << "other weights were taken for the last ones";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("step 2 does not hold its last weights"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace job_session_test
}  // namespace depthgrid::testing
