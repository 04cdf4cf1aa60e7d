#include "worker/session/cell_recorder.hpp"

#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/cells/cell_file.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/variables.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "worker/session/probe_service.hpp"

namespace depthgrid {
namespace cell_recorder_test {

using namespace std::chrono_literals;

/// A store with one cell, and a process that claims it.
class CellRecorderTest : public ::testing::Test {
 protected:
  CellRecorderTest() : store_(Store::open_or_create(folder_.path() / "s")) {
    publish_plan(store_, synthetic_sweep({1e-4}));
    plan_ = read_plan(store_);
  }

  std::filesystem::path cell() const { return store_.cell_dir(plan_.cells[0].id); }
  std::filesystem::path journal() const { return cell() / "journal-000001"; }

  CellRecorder first_attempt() {
    return CellRecorder(store_, plan_, plan_.cells[0], keeper_.try_acquire(cell()).value(), 0, "{}",
                        {});
  }

  /// Somebody else takes the cell, and the recorder gets to know it.
  void depose(const CellRecorder& recorder) const {
    publish_once(cell() / "gen-000002", "another owner");
    for (int i = 0; i < 1000 && recorder.writes(); ++i) std::this_thread::sleep_for(10ms);
    ASSERT_FALSE(recorder.writes());
  }

  TemporaryFolder folder_;
  Store store_;
  StoredPlan plan_;
  LeaseKeeper keeper_{{.ttl = 90ms}};
};

TEST_F(CellRecorderTest, AnAttemptWhoseCellWasTakenSaysSoOnceAtItsEnd) {
  CellRecorder recorder = first_attempt();
  depose(recorder);

  recorder.abandon(7, {AttemptOutcome::Preempted, ExitCode::TempFail, {}, 0, ""});

  const JournalContents contents = read_journal(journal());
  ASSERT_TRUE(contents.end.has_value()) << "without an end it counts as a crash";
  EXPECT_EQ(contents.end->outcome, AttemptOutcome::Deposed);
  ASSERT_EQ(contents.events.size(), 1U);
  EXPECT_EQ(contents.events[0].kind, EventKind::LeaseLost);
  const auto size = std::filesystem::file_size(journal());
  recorder.abandon(7, {AttemptOutcome::Preempted, ExitCode::TempFail, {}, 0, ""});
  EXPECT_FALSE(recorder.finish(CellStatus::Completed, {}));
  EXPECT_EQ(std::filesystem::file_size(journal()), size);
}

TEST_F(CellRecorderTest, AnAttemptThatHasEndedStaysAsItWas) {
  CellRecorder recorder = first_attempt();
  recorder.abandon(7,
                   {AttemptOutcome::Error, ExitCode::Failed, EventKind::Failure, 0, "went wrong"});
  const auto size = std::filesystem::file_size(journal());
  publish_once(cell() / "gen-000002", "another owner");

  recorder.abandon(7, {AttemptOutcome::Deposed, ExitCode::Done, {}, 0, ""});

  EXPECT_EQ(std::filesystem::file_size(journal()), size);
  EXPECT_EQ(read_journal(journal()).end->outcome, AttemptOutcome::Error);
}

RecordShape every_option() {
  return {.cells = 2,
          .flows = true,
          .learned_scales = 3,
          .positions = 2,
          .published = true,
          .loss_parts = {"tpn"},
          .layers = 3};
}

std::vector<double> counted(std::size_t n, double first) {
  std::vector<double> out(n);
  std::iota(out.begin(), out.end(), first);
  return out;
}

/// One cell's training numbers, told apart by their first digits: cell 1 of two.
StepReport step_report() {
  StepReport out;
  out.loss = {0, 1};
  out.total = {0, 2};
  out.parts = {{0, 3}};
  out.nonfinite = {0, 1};
  out.optimizer.lr = {0, 4};
  out.optimizer.norms.norm = {0, 5};
  out.optimizer.norms.norm_clipped = {0, 6};
  out.optimizer.norms.factor = {0, 7};
  out.optimizer.norms.group_norm = counted(2 * kParameterGroupCount, 100);
  out.optimizer.norms.group_norm_clipped = counted(2 * kParameterGroupCount, 200);
  out.optimizer.update.update_norm = {0, 8};
  out.optimizer.update.parameter_norm = {0, 9};
  return out;
}

ModeResults mode_results() {
  constexpr std::size_t modes = 10;  // of the axis eval_mode
  return {.loss = counted(2 * modes, 300),
          .executed = counted(2 * modes, 400),
          .rate = counted(2 * 3 * modes, 500),
          .mismatch = {0, 10},
          .student = {}};
}

TEST_F(CellRecorderTest, EveryVariableIsReadBackUnderItsName) {
  CellRecorder recorder(store_, plan_, plan_.cells[0], keeper_.try_acquire(cell()).value(), 0, "{}",
                        every_option());
  SplitResults results;
  results[2].resize(2);
  results[2][1] = {11, 12, 13, 14, 15, 16, {17, 18}};
  const std::optional<std::vector<double>> published = {{0, 19}};
  const std::optional<ModeResults> modes = mode_results();

  const std::vector<double> scales = {24, 25, 26};
  const StepReport report = step_report();
  recorder.train_row(1, {report, 1, 20, 21, 22, 23, scales, 27});
  recorder.eval_row(1, {results, published, modes, 1});
  recorder.put(*modes, 1);
  recorder.put_probes(1);

  const CellHistory history = read_history(cell());
  const auto read = [&](const char* kind, const char* name) {
    return history.find(kind)->column(name);
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(read("train", "train_loss"), Numbers{1});
  EXPECT_EQ(read("train", "train_loss_total"), Numbers{2});
  EXPECT_EQ(read("train", "train_loss_tpn"), Numbers{3});
  EXPECT_EQ(read("train", "train_learning_rate"), Numbers{4});
  EXPECT_EQ(read("train", "train_grad_norm"), Numbers{5});
  EXPECT_EQ(read("train", "train_grad_norm_clipped"), Numbers{6});
  EXPECT_EQ(read("train", "train_clip_factor"), Numbers{7});
  EXPECT_EQ(read("train", "train_update_norm"), Numbers{8});
  EXPECT_EQ(read("train", "train_parameter_norm"), Numbers{9});
  EXPECT_EQ(read("train", "train_grad_norm_group"), counted(17, 117));
  EXPECT_EQ(read("train", "train_grad_norm_group_clipped"), counted(17, 217));
  EXPECT_EQ(read("train", "train_nonfinite"), Numbers{1});
  EXPECT_EQ(read("train", "train_loss_scale"), Numbers{20});
  EXPECT_EQ(read("train", "train_tokens"), Numbers{21});
  EXPECT_EQ(read("train", "train_epoch"), Numbers{22});
  EXPECT_EQ(read("train", "train_wall_time"), Numbers{23});
  EXPECT_EQ(read("train", "residual_scale"), (Numbers{24, 25, 26}));
  EXPECT_EQ(read("train", "alpha"), Numbers{27});
  EXPECT_EQ(read("eval", "eval_loss")[2], 11);
  EXPECT_TRUE(std::isnan(read("eval", "eval_loss")[1]));
  EXPECT_EQ(read("eval", "eval_loss_error")[2], 12);
  EXPECT_EQ(read("eval", "eval_tokens")[2], 13);
  EXPECT_EQ(read("eval", "eval_perplexity")[2], 14);
  EXPECT_EQ(read("eval", "eval_bits_per_byte")[2], 15);
  EXPECT_EQ(read("eval", "eval_accuracy")[2], 16);
  EXPECT_EQ(read("eval", "eval_loss_position")[5], 18);
  EXPECT_TRUE(std::isnan(read("eval", "eval_loss_position")[0]));
  EXPECT_EQ(read("eval", "eval_loss_published"), Numbers{19});
  EXPECT_EQ(read("eval", "eval_loss_mode"), counted(10, 310));
  EXPECT_EQ(read("eval", "eval_executed_share"), counted(10, 410));
  EXPECT_EQ(read("eval", "eval_mismatch_gap"), Numbers{10});
  EXPECT_EQ(read("probe", "routing_rate"), counted(30, 530));
}

TEST_F(CellRecorderTest, AResultIsNotPublishedWhenRecordsOfItsStepsAreGone) {
  CellRecorder recorder(store_, plan_, plan_.cells[0], keeper_.try_acquire(cell()).value(), 0, "{}",
                        every_option());
  const std::vector<double> scales = {24, 25, 26};
  const StepReport report = step_report();
  for (std::int64_t step = 1; step <= 3; ++step) {
    recorder.train_row(step, {report, 1, 20, 21, 22, 23, scales});
  }
  EXPECT_EQ(recorder.reached(), 3);
  std::error_code kept;  // while it is emptied, the heartbeat may put a file into the folder
  do {
    std::filesystem::remove_all(cell(), kept);
  } while (kept);

  EXPECT_FALSE(recorder.finish(CellStatus::Completed, {}));

  EXPECT_EQ(store_.result(plan_.cells[0].id).kind, ResultState::Kind::Absent);
  EXPECT_TRUE(keeper_.try_acquire(cell()).has_value()) << "the next attempt may begin at once";
}

TEST_F(CellRecorderTest, WhatStandsInThePlaceOfTheResultIsQuarantined) {
  CellRecorder recorder = first_attempt();
  std::filesystem::create_directory(cell() / "result.h5");

  EXPECT_TRUE(recorder.finish(CellStatus::Completed, {}));

  EXPECT_TRUE(store_.completed(plan_.cells[0].id));
  EXPECT_TRUE(std::filesystem::is_directory(cell() / "result.h5.damaged-1"));
}

TEST_F(CellRecorderTest, CheckpointsVouchForTheJournalsOfAllAttempts) {
  write_attempt(cell(), 0, 1, 0, 5, false);
  const CellHistory before = read_history(cell());
  CellRecorder recorder(store_, plan_, plan_.cells[0], keeper_.try_acquire(cell()).value(), 5, "{}",
                        {});
  recorder.follow(before);
  const auto marks = marks_from_json(recorder.journal_marks());
  ASSERT_TRUE(marks.has_value());
  ASSERT_EQ(marks->size(), 2U);
  EXPECT_TRUE(begins_with(cell() / "journal-000001", marks->at(0)));
  EXPECT_TRUE(begins_with(cell() / "journal-000002", marks->at(1)));
}

TEST_F(CellRecorderTest, ARowWithoutOptionsHasTheWidthThatPlannersReckonWith) {
  const CellRows rows{RecordShape{}};
  const std::vector<RowKind>& kinds = rows.layout().kinds();

  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[CellRows::kTrain].width(), row_numbers("step"));
  EXPECT_EQ(kinds[CellRows::kEval].width(), row_numbers("eval_step"));
}

/// Writes the step at each layer of each cell.
class LayerProbe final : public Probe {
 public:
  LayerProbe(const char* variable, Value schedule, std::int64_t layers)
      : variable_(variable), schedule_(schedule, 4), layers_(layers) {}
  void declare(RecordSink& out) override {
    series_ = out.declare({.name = variable_, .axes = {{.name = "layer", .length = layers_}}});
  }
  const ProbeSchedule& schedule() const override { return schedule_; }
  void measure(std::int64_t step, RecordSink& out) override {
    out.write(series_, 0, std::vector<double>(3, static_cast<double>(step)));
  }

 private:
  const char* variable_;
  ProbeSchedule schedule_;
  std::int64_t layers_;
  std::size_t series_ = 0;
};

TEST_F(CellRecorderTest, RawStatesAreAFileBesideTheResultUntilTheCellIsTaken) {
  const std::vector<double> times = {0, 1};
  const std::vector<std::int64_t> channels = {3};
  const std::vector<std::int32_t> tokens = {7, 8};
  const std::vector<std::byte> states(2 * 2 * 1 * sizeof(float));
  StateRecord record{.step = 5,
                     .half = false,
                     .sequences = 1,
                     .edge_times = times,
                     .channels = channels,
                     .token_ids = tokens,
                     .states = states};
  CellRecorder recorder = first_attempt();
  recorder.keep(record);
  EXPECT_TRUE(std::filesystem::exists(cell() / "states-00000005.h5"));

  depose(recorder);
  record.step = 6;
  recorder.keep(record);
  EXPECT_FALSE(std::filesystem::exists(cell() / "states-00000006.h5"));
  recorder.abandon(6, {AttemptOutcome::Preempted, ExitCode::TempFail, {}, 0, ""});
}

/// Two probes that record in one cell, once it has a recorder.
ProbeService two_probes(std::int64_t layers, std::vector<CellRecorder>& recorders) {
  std::vector<std::unique_ptr<Probe>> probes;
  probes.push_back(std::make_unique<LayerProbe>("tpn_mse", Value(ValueMap{{"every", 2}}), layers));
  probes.push_back(std::make_unique<LayerProbe>("tpn_skill", Value("end"), layers));
  return ProbeService(
      {nullptr, std::move(probes), {"mse", "skill"}},
      [&recorders](std::int64_t /*step*/) { return std::vector<CellRecorder*>{&recorders.at(0)}; });
}

TEST_F(CellRecorderTest, WhatProbesSeeIsInTheMetricsAndInTheResult) {
  std::vector<CellRecorder> recorders;
  ProbeService probes = two_probes(3, recorders);
  recorders.emplace_back(store_, plan_, plan_.cells[0], keeper_.try_acquire(cell()).value(), 0,
                         "{}", RecordShape{.series = probes.series()});

  for (std::int64_t step = 0; step <= 4; ++step) {
    probes.measure(step);
    recorders[0].put_probes(step);  // nothing is left to write
  }
  // What a snapshot publishes while the cell trains.
  publish_metrics(cell(),
                  {plan_.cells[0], plan_, read_history(cell()), CellStatus::Running, CellFacts()});
  {
    const TableReader metrics(cell() / "metrics.h5");
    EXPECT_EQ(metrics.read("tpn_mse").number(8), 4);
  }
  ASSERT_TRUE(recorders[0].finish(CellStatus::Completed, {}));

  const TableReader result(cell() / "result.h5");
  const VariableColumn steps = result.read("probe_step"), mse = result.read("tpn_mse"),
                       skill = result.read("tpn_skill");
  ASSERT_EQ(steps.items(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(steps.integer(i), static_cast<std::int64_t>(2 * i));
    EXPECT_EQ(mse.number(i * 3), static_cast<double>(2 * i));
    EXPECT_EQ(std::isnan(skill.number(i * 3)), i < 2) << "the second probe looks at the end";
  }
  EXPECT_EQ(skill.number(8), 4);
}

TEST_F(CellRecorderTest, ALookThatIsDueForOneCellOnlyIsChargedToItAlone) {
  std::vector<CellRecorder> recorders;
  std::vector<std::unique_ptr<Probe>> both;
  both.push_back(std::make_unique<LayerProbe>("tpn_mse", Value(ValueMap{{"every", 2}}), 3));
  both.push_back(std::make_unique<LayerProbe>("tpn_skill", Value("end"), 3));
  using Charges = std::vector<std::pair<std::string, std::vector<std::size_t>>>;
  Charges charged;
  bool stopped = false;
  ProbeService probes(
      {nullptr, std::move(both), {"mse", "skill"}},
      [&recorders](std::int64_t) {
        return std::vector<CellRecorder*>{&recorders.at(0), &recorders.at(0)};
      },
      {.stopped = [&stopped](std::size_t e) { return stopped && e == 1; },
       .took = [&charged](
                   const std::string& probe, double /*seconds*/,
                   const std::vector<std::size_t>& cells) { charged.emplace_back(probe, cells); }});
  recorders.emplace_back(store_, plan_, plan_.cells[0], keeper_.try_acquire(cell()).value(), 0,
                         "{}", RecordShape{.series = probes.series()});

  probes.measure(1);
  EXPECT_EQ(charged, Charges{}) << "nothing is due";
  stopped = true;
  probes.measure(2);
  EXPECT_EQ(charged, (Charges{{"mse", {0, 1}}, {"skill", {1}}}));
  charged.clear();
  probes.measure(3);
  EXPECT_EQ(charged, (Charges{{"mse", {1}}, {"skill", {1}}}));
}

TEST_F(CellRecorderTest, ASeriesOfTheWrongLengthIsNamed) {
  std::vector<CellRecorder> recorders;
  ProbeService probes = two_probes(4, recorders);  // they write 3
  recorders.emplace_back(store_, plan_, plan_.cells[0], keeper_.try_acquire(cell()).value(), 0,
                         "{}", RecordShape{.series = probes.series()});

  try {
    probes.measure(0);
    FAIL() << "3 numbers for 4 layers";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "series 'tpn_mse' got 3 values, its axes require 4");
  }
  EXPECT_THROW(CellRows(RecordShape{.series = {{.name = "tpn_mse"}}}), Error) << "how many layers?";
  EXPECT_THROW(CellRows(RecordShape{.series = {{.name = "eval_loss_published"}}}), Error);
}

}  // namespace cell_recorder_test
}  // namespace depthgrid
