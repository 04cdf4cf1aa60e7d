#include "sweeps/report/cell_log.hpp"

#include <filesystem>
#include <fstream>
#include <numeric>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "storage/files/journal.hpp"
#include "storage/plan_file.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/plan/plan_report.hpp"
#include "sweeps/report/evaluation_windows.hpp"
#include "sweeps/report/listing.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace cell_log_test {

namespace fs = std::filesystem;

/// A store of four cells, two structures, where nothing has been trained.
class StoredSweepTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_.path() / "s.yaml")
        << "name: s\n"
           "model: {family: time_indexed, d_model: 16, n_heads: 2}\n"
           "data: {corpus: \"synthetic:markov\"}\n"
           "parameters: {model.modulation.hidden: [4, 8]}\n"
           "seeds: 2\n";
    sweep_ = load_sweep({folder_.path() / "s.yaml", {}, false});
  }

  Store make_store() {
    Store store = Store::open_or_create(folder_.path() / "store");
    publish_plan(store, sweep_);
    return store;
  }

  TemporaryFolder folder_;
  Sweep sweep_;
};

TEST_F(StoredSweepTest, TheStoreAndTheSweepFileListTheSameCells) {
  const Store store = make_store();
  const Listing stored = list_store(store, "store");
  const Listing planned = list_sweep(sweep_, "store");
  EXPECT_EQ(stored.sweep, "s");
  EXPECT_EQ(stored.metric, planned.metric);
  EXPECT_EQ(stored.baseline, planned.baseline);
  ASSERT_EQ(stored.cells.size(), 4u);
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(stored.cells[row].id, sweep_.cells[row].id);
    EXPECT_EQ(stored.cells[row].alias, planned.cells[row].alias);
    EXPECT_EQ(stored.cells[row].seed, planned.cells[row].seed);
    EXPECT_EQ(stored.cells[row].overrides, planned.cells[row].overrides);
    EXPECT_EQ(stored.cells[row].status, CellStatus::Pending);
  }
}

TEST_F(StoredSweepTest, TheListingSaysHowEvaluationCutsASplit) {
  const auto said = [](const Listing& listing) {
    std::vector<std::size_t> rows(listing.cells.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return eval_windows(listing, rows);
  };
  EXPECT_EQ(said(list_store(make_store(), "store")), "disjoint");
  const auto windows_with = [&](const char* stride) {
    const Sweep sweep =
        load_sweep({folder_.path() / "s.yaml", {std::string("eval.stride=") + stride}, false});
    return said(list_sweep(sweep, "store"));
  };
  EXPECT_EQ(windows_with("128"), "disjoint");
  EXPECT_EQ(windows_with("32"), "sliding");
  EXPECT_EQ(windows_with("32,128"), "mixed");
}

TEST_F(StoredSweepTest, ACellIsFoundByAliasIdOrTheBeginningOfOne) {
  const Listing listing = list_sweep(sweep_, "store");
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(find_cell(listing, listing.cells[row].id), row);
    EXPECT_EQ(find_cell(listing, listing.cells[row].alias), row);
  }
  EXPECT_EQ(find_cell(listing, listing.cells[2].id.substr(0, 11)), 2u);
  const std::string arm = listing.cells[0].alias.substr(0, listing.cells[0].alias.size() - 1);
  for (const std::string& text : {arm, std::string(), std::string("nothing")}) {
    try {
      find_cell(listing, text);
      FAIL() << text;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(listing.cells[0].id), std::string::npos);
    }
  }
}

TEST_F(StoredSweepTest, ACellIsFoundByArmOrTagAndSeedOrByACondition) {
  Listing listing = list_sweep(sweep_, "store");
  listing.cells[2].tag = listing.cells[3].tag = "wide";
  EXPECT_EQ(find_cell(listing, "wide,s1"), 3u);
  EXPECT_EQ(find_cell(listing, "tag = wide and seed = 0"), 2u);
  listing.cells[3].tag.clear();
  EXPECT_EQ(find_cell(listing, "wide"), 2u);
  listing.cells[3].tag = "wide";
  try {
    find_cell(listing, "wide");
    FAIL() << "two cells have this tag";
  } catch (const UserError& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("'wide' means several cells:")) << e.what();
  }
}

TEST_F(StoredSweepTest, TheLogTellsAttemptsEventsFailureAndTheEndOfTheWorkersLog) {
  const Store store = make_store();
  const CellId id = sweep_.cells[0].id;
  {
    JournalHeader header;
    header.generation = 1;
    header.kinds = {{"train", {{"train_loss", 1}}}};
    header.attempt_json =
        R"({"host": "node7", "device": "cpu", "start": 0, "logs": ["a.log", "gone.log"]})";
    Journal journal(store.cell_dir(id) / generation_name("journal", 1), header);
    const double loss = 2.5;
    journal.append(0, 1, {&loss, 1});
    journal.event(1, EventKind::Checkpoint, 1.0, "kept");
    journal.end(AttemptOutcome::Error, 1);
  }
  store.publish_failure(id, 1, CellStatus::Failed, R"({"message": "no such thing"})");
  fs::create_directories(store.root() / "logs");
  std::ofstream(store.root() / "logs" / "a.log") << "one\ntwo\nthree \xff\n";
  std::ofstream(store.root() / "logs" / "of_other_cells.log") << "elsewhere\n";

  CellSummary cell;
  cell.id = id;
  cell.alias = "the alias";
  cell.status = CellStatus::Failed;
  const auto log = parse_json(cell_log_json(store, cell, 2));
  EXPECT_EQ(log["schema"], 1);
  EXPECT_EQ(log["status"], "failed");
  ASSERT_EQ(log["attempts"].size(), 1u);
  EXPECT_EQ(log["attempts"][0]["outcome"], "error");
  EXPECT_EQ(log["attempts"][0]["last_step"], 1);
  EXPECT_EQ(log["attempts"][0]["start"], "1970-01-01T00:00:00Z");
  EXPECT_EQ(log["attempts"][0]["facts"]["host"], "node7");
  ASSERT_EQ(log["events"].size(), 1u);
  EXPECT_EQ(log["events"][0]["kind"], "checkpoint");
  EXPECT_EQ(log["events"][0]["message"], "kept");
  EXPECT_EQ(log["failure"]["message"], "no such thing");
  ASSERT_EQ(log["logs"].size(), 2u);  // a rank's log that is gone is an empty one
  ASSERT_EQ(log["logs"][0]["lines"].size(), 2u);
  EXPECT_EQ(log["logs"][0]["lines"][0], "two");
  EXPECT_EQ(log["log"], log["logs"][1]["lines"]);

  const std::string text = cell_log_text(store, cell, 2);
  for (const char* part : {"the alias", "node7", "checkpoint", "no such thing", "two\nthree"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(text.find("one\n"), std::string::npos);
  EXPECT_EQ(text.find("elsewhere"), std::string::npos);
}

TEST_F(StoredSweepTest, ACellThatNobodyTriedHasAnEmptyLog) {
  const Store store = make_store();
  CellSummary cell;
  cell.id = sweep_.cells[1].id;
  EXPECT_NE(cell_log_text(store, cell, 5).find("no attempt yet"), std::string::npos);
  EXPECT_FALSE(fs::exists(store.cell_path(cell.id)));  // reading makes nothing
}

TEST_F(StoredSweepTest, ThePlanLeavesOutCellsWithAResultAndPlansFailedOnesAgain) {
  const std::vector<CellStatus> status = {CellStatus::Completed, CellStatus::Diverged,
                                          CellStatus::Failed, CellStatus::Pending};
  const PlanReport report = make_plan_report(sweep_, "store", status, {}, {}, {});
  ASSERT_EQ(report.jobs.size(), 1u);
  EXPECT_EQ(report.jobs[0].cells, (std::vector<std::size_t>{2, 3}));
  const auto json = parse_json(plan_json(sweep_, report));
  EXPECT_EQ(json["done"], 2);
  EXPECT_EQ(json["cells"].size(), 4u);
  EXPECT_EQ(json["jobs"][0]["cells"][0], sweep_.cells[2].id);
  EXPECT_TRUE(json["jobs"][0]["predicted_seconds"].is_null());
  EXPECT_EQ(json["separating_leaves"][0], "model.modulation.hidden");
}

TEST_F(StoredSweepTest, ThePlanShowsWhatTheWorkerSaysOfAStructure) {
  CostTable costs;
  StructureCost& cost = costs[sweep_.cells[0].structure];
  cost.structure = sweep_.cells[0].structure;
  cost.parameters = 12345;
  cost.max_fused = 4;
  cost.bytes_per_cell = 1024;
  cost.time_feature_rank = 6;
  const PlanReport report =
      make_plan_report(sweep_, "store", std::vector<CellStatus>(4), {}, costs, {"a note"});
  const auto json = parse_json(plan_json(sweep_, report));
  ASSERT_EQ(json["structures"].size(), 1u);
  EXPECT_EQ(json["structures"][0]["cells"], 2);
  EXPECT_EQ(json["structures"][0]["time_feature_rank"], 6);
  const std::string text = plan_text(sweep_, report);
  for (const char* part : {"4 cells, 0 done", "12,345", "2.0 KiB", "note: a note"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

}  // namespace cell_log_test
}  // namespace depthgrid
