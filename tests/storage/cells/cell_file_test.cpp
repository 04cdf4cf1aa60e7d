#include "storage/cells/cell_file.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace cell_file_test {

class CellFile : public testing::Test {
 protected:
  CellFile() : plan_(stored_plan(synthetic_sweep({1e-4, 1e-3}))) {}

  ColumnTable table(CellStatus status) const {
    const CellHistory history = read_history(folder_.path());
    return cell_table({.plan = plan_.cells[0],
                       .sweep = plan_,
                       .history = history,
                       .status = status,
                       .facts = synthetic_facts()});
  }

  TemporaryFolder folder_;
  StoredPlan plan_;
};

TEST_F(CellFile, SeriesHoldTheRowsOfTheJournalAtTheirSteps) {
  write_attempt(folder_.path(), 0, 1, 0, 12, true);

  const ColumnTable out = table(CellStatus::Completed);

  ASSERT_EQ(out.sizes.at("step"), 12);
  ASSERT_EQ(out.sizes.at("eval_step"), 2);
  EXPECT_EQ(out.find("step")->integer(11), 12);
  EXPECT_EQ(out.find("eval_step")->integer(1), 10);
  EXPECT_EQ(out.find("train_loss")->number(2), synthetic_loss(0, 3));
  EXPECT_EQ(out.find("train_tokens")->integer(2), 3 * 1024);
  EXPECT_EQ(out.find("train_grad_norm_group")->number(2 * 17 + 5), 5 + 3);
  EXPECT_EQ(out.find("eval_loss")->number(1 * 4 + 2), synthetic_loss(0, 10) + 0.25);
  EXPECT_TRUE(std::isnan(out.find("eval_loss")->number(0)));
  EXPECT_EQ(out.find("eval_tokens")->integer(2), 2048);
  EXPECT_EQ(out.find("eval_tokens")->integer(0), -1) << "an absent count is -1";
  EXPECT_EQ(out.sizes.at("token_position"), 2);
}

TEST_F(CellFile, CountsAndFactsBelongToTheCell) {
  write_attempt(folder_.path(), 0, 1, 0, 12, true);

  const ColumnTable out = table(CellStatus::Completed);

  EXPECT_EQ(out.find("n_steps")->integer(0), 12);
  EXPECT_EQ(out.find("n_evals")->integer(0), 2);
  EXPECT_EQ(out.find("n_depth")->integer(0), 2);
  EXPECT_EQ(out.find("n_position")->integer(0), 2);
  EXPECT_EQ(out.find("n_parameters")->integer(0), 4902912);
  EXPECT_EQ(out.find("n_parameters_group")->integer(0), 100);
  EXPECT_EQ(out.find("depth_edge_time")->items(), 3U);
  EXPECT_EQ(out.find("final_loss")->number(2), 1.5);
  EXPECT_EQ(out.find("train_loss_last50")->number(0), 2.5);
  EXPECT_EQ(out.find("tokens_sha256")->text(0), "feed");
  EXPECT_EQ(out.find("stopped_at")->integer(0), 12);
  EXPECT_EQ(out.find("diverged_at")->integer(0), -1);
  EXPECT_EQ(out.find("cell_status")->integer(0), 2);
  EXPECT_EQ(out.find("cell")->text(0), plan_.cells[0].id);
  EXPECT_EQ(out.find("train_update_norm"), nullptr) << "what nobody wrote is not there";
}

TEST_F(CellFile, ConstantSeriesStandsAtTheFirstStepOnly) {
  write_attempt(folder_.path(), 0, 1, 0, 3, true);

  const ColumnTable out = table(CellStatus::Completed);

  const VariableColumn* scale = out.find("residual_scale");
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ(scale->items(), 6U);
  EXPECT_EQ(scale->number(1), 0.5);
  EXPECT_TRUE(std::isnan(scale->number(2)));
}

TEST_F(CellFile, AttemptsAndEventsAreListed) {
  write_attempt(folder_.path(), 0, 1, 0, 7, false);
  write_attempt(folder_.path(), 0, 2, 5, 12, true);

  const ColumnTable out = table(CellStatus::Completed);

  ASSERT_EQ(out.sizes.at("attempt"), 2);
  ASSERT_EQ(out.sizes.at("event"), 2);
  EXPECT_EQ(out.find("attempt_first_step")->integer(1), 5);
  EXPECT_EQ(out.find("attempt_last_step")->integer(0), 7);
  EXPECT_EQ(out.find("attempt_outcome")->integer(0), 2) << "no end: it crashed";
  EXPECT_EQ(out.find("attempt_outcome")->integer(1), 0);
  EXPECT_EQ(out.find("attempt_exit_code")->integer(0), -1);
  EXPECT_EQ(out.find("attempt_host")->text(1), "node2");
  EXPECT_EQ(out.find("attempt_environment")->text(0), R"({"OMP_NUM_THREADS":"1"})");
  EXPECT_EQ(out.find("attempt_start")->number(0), 1700000000.5);
  EXPECT_EQ(out.find("event_kind")->integer(0), 1);
  EXPECT_EQ(out.find("event_message")->text(1), "checkpoint at 12");
  EXPECT_EQ(out.sizes.at("job"), 1);
  EXPECT_EQ(out.find("job_cells")->integer(0), 2);
  EXPECT_EQ(out.find("replayed_steps")->integer(0), 2);
  EXPECT_EQ(out.find("replay_mismatches")->integer(0), 0);
}

TEST_F(CellFile, ACellBeforeItsFirstStepHasNoSeries) {
  const ColumnTable out = table(CellStatus::Pending);

  EXPECT_FALSE(out.sizes.contains("step"));
  EXPECT_EQ(out.find("train_loss"), nullptr);
  EXPECT_EQ(out.find("residual_scale"), nullptr);
  EXPECT_EQ(out.find("n_steps")->integer(0), 0);
  EXPECT_EQ(out.find("stopped_at")->integer(0), -1);
}

TEST_F(CellFile, NamesAndShapesThatTheTableLacksAreBugs) {
  const CellHistory history;
  CellFileInput input{.plan = plan_.cells[0],
                      .sweep = plan_,
                      .history = history,
                      .status = CellStatus::Pending,
                      .facts = {}};
  CellFileInput wrong_count = input;
  input.facts.set("n_parametres", 3);
  wrong_count.facts.set("n_parameters_group", std::vector<double>(16, 0.0));

  EXPECT_THROW(cell_table(input), Error);
  EXPECT_THROW(cell_table(wrong_count), Error);
}

TEST_F(CellFile, VariablesOfACellAgreeOnTheLengthOfAnAxis) {
  const CellHistory history;
  CellFileInput input{.plan = plan_.cells[0],
                      .sweep = plan_,
                      .history = history,
                      .status = CellStatus::Pending,
                      .facts = synthetic_facts()};
  input.facts.set("depth_layer", std::vector<double>{0, 1, 2});

  try {
    cell_table(input);
    FAIL() << "three depth steps beside two";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("depth 3 as in depth_layer"), std::string::npos) << text;
    EXPECT_NE(text.find("'depth_time'"), std::string::npos) << text;
  }
}

TEST_F(CellFile, ResultIsSealedOnceAndHoldsItsConfiguration) {
  write_attempt(folder_.path(), 0, 4, 0, 12, true);
  const CellHistory history = read_history(folder_.path());
  const CellFileInput input{.plan = plan_.cells[0],
                            .sweep = plan_,
                            .history = history,
                            .status = CellStatus::Completed,
                            .facts = synthetic_facts()};

  EXPECT_TRUE(publish_result(folder_.path(), input));
  EXPECT_FALSE(publish_result(folder_.path(), input));

  const TableReader reader(folder_.path() / "result.h5");
  EXPECT_EQ(peek_seal(folder_.path() / "result.h5")->generation, 4);
  EXPECT_EQ(reader.text_attribute("format"), "depthgrid-result");
  EXPECT_EQ(reader.text_attribute("config"), resolved_json(plan_, plan_.cells[0]));
  EXPECT_EQ(reader.text_attribute("library_versions"), R"({"libtorch":"2.11.0"})");
  EXPECT_EQ(reader.text_attribute("host"), "node4");
  EXPECT_EQ(reader.read("train_loss").number(11), synthetic_loss(0, 12));
}

TEST_F(CellFile, SnapshotsReplaceEachOther) {
  write_attempt(folder_.path(), 0, 1, 0, 4, false);
  const auto publish = [&] {
    const CellHistory history = read_history(folder_.path());
    publish_metrics(folder_.path(), {.plan = plan_.cells[0],
                                     .sweep = plan_,
                                     .history = history,
                                     .status = CellStatus::Running,
                                     .facts = {}});
    return TableReader(folder_.path() / "metrics.h5").read("step").items();
  };

  EXPECT_EQ(publish(), 4U);
  write_attempt(folder_.path(), 0, 2, 4, 9, false);
  EXPECT_EQ(publish(), 9U);
}

}  // namespace cell_file_test
}  // namespace depthgrid
