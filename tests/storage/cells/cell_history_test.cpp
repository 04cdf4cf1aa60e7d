#include "storage/cells/cell_history.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace cell_history_test {

using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;

const std::vector<RowKind> kKinds = {{"train", {{"train_loss", 1}, {"train_wall_time", 1}}},
                                     {"eval", {{"eval_loss", 2}}},
                                     {"cell", {{"final_loss", 1}}}};

Journal attempt(const std::filesystem::path& folder, std::int64_t generation, std::int64_t first,
                const std::vector<RowKind>& kinds = kKinds) {
  return {folder / generation_name("journal", generation),
          {generation, first, kinds, "{\"g\": " + std::to_string(generation) + "}"}};
}

TEST(CellHistory, OfOneAttemptIsItsJournal) {
  TemporaryFolder folder;
  Journal journal = attempt(folder.path(), 1, 0);
  journal.append(0, 1, Numbers{5, 0.1});
  journal.append(0, 2, Numbers{4, 0.2});
  journal.append(1, 2, Numbers{4.5, 4.6});
  journal.append(2, 2, Numbers{4});
  journal.event(2, EventKind::Checkpoint, 0, "c");
  journal.end(AttemptOutcome::Done, 0);

  const CellHistory history = read_history(folder.path());

  ASSERT_EQ(history.attempts.size(), 1U);
  EXPECT_EQ(history.attempts[0].last_step, 2);
  EXPECT_EQ(history.attempts[0].end->outcome, AttemptOutcome::Done);
  EXPECT_EQ(history.attempts[0].attempt_json, "{\"g\": 1}");
  ASSERT_NE(history.find("train"), nullptr);
  EXPECT_EQ(history.find("train")->rows.steps, (Integers{1, 2}));
  EXPECT_EQ(history.find("train")->column("train_loss"), (Numbers{5, 4}));
  EXPECT_EQ(history.find("eval")->column("eval_loss"), (Numbers{4.5, 4.6}));
  EXPECT_EQ(history.find("cell")->column("final_loss"), Numbers{4});
  EXPECT_EQ(history.find("absent"), nullptr);
  EXPECT_THROW(history.find("train")->column("absent"), Error);
  EXPECT_EQ(history.events.size(), 1U);
  EXPECT_EQ(history.replayed_steps, 0);
}

TEST(CellHistory, RowsComeFromTheNewestAttemptThatHasTheStep) {
  TemporaryFolder folder;
  Journal first = attempt(folder.path(), 1, 0);
  for (int s = 1; s <= 5; ++s) first.append(0, s, Numbers{10.0 - s, 1});
  Journal second = attempt(folder.path(), 2, 2);
  for (int s = 3; s <= 4; ++s) second.append(0, s, Numbers{10.0 - s, 2});

  const CellHistory history = read_history(folder.path());

  EXPECT_EQ(history.find("train")->rows.steps, (Integers{1, 2, 3, 4, 5}));
  EXPECT_EQ(history.find("train")->column("train_wall_time"), (Numbers{1, 1, 2, 2, 1}));
  EXPECT_EQ(history.attempts[1].first_step, 2);
  EXPECT_EQ(history.attempts[1].last_step, 4);
  EXPECT_FALSE(history.attempts[0].end.has_value());
}

TEST(CellHistory, AuditCountsReplayedStepsAndThoseThatDifferByABit) {
  TemporaryFolder folder;
  Journal first = attempt(folder.path(), 1, 0);
  Journal second = attempt(folder.path(), 2, 2);
  Journal third = attempt(folder.path(), 3, 2);
  for (int s = 1; s <= 5; ++s) first.append(0, s, Numbers{s == 5 ? NAN : 1.0 / s, 1});
  for (int s = 3; s <= 5; ++s) second.append(0, s, Numbers{s == 5 ? NAN : 1.0 / s, 2});
  third.append(0, 3, Numbers{std::nextafter(1.0 / 3, 1.0), 3});
  third.append(0, 4, Numbers{1.0 / 4, 3});

  const CellHistory history = read_history(folder.path());

  EXPECT_EQ(history.replayed_steps, 5);     // 3 by the second, 2 by the third
  EXPECT_EQ(history.replay_mismatches, 1);  // step 3 of the third; clocks and NaN do not count
}

TEST(CellHistory, AuditSeesEvaluationsButNotTheClock) {
  TemporaryFolder folder;
  Journal first = attempt(folder.path(), 1, 0);
  Journal second = attempt(folder.path(), 2, 0);
  first.append(0, 1, Numbers{1, 1});
  second.append(0, 1, Numbers{1, 2});
  first.append(1, 1, Numbers{1, 2});
  second.append(1, 1, Numbers{1, -2});
  first.append(2, 1, Numbers{1});
  second.append(2, 1, Numbers{7});

  EXPECT_EQ(read_history(folder.path()).replay_mismatches, 1);
  EXPECT_EQ(read_history(folder.path()).replayed_steps, 1);
}

TEST(CellHistory, ColumnsThatOnlyOneAttemptHasAreAbsentElsewhere) {
  TemporaryFolder folder;
  Journal first = attempt(folder.path(), 1, 0, {{"train", {{"old", 1}, {"train_loss", 1}}}});
  Journal second = attempt(folder.path(), 2, 1, {{"train", {{"train_loss", 1}, {"new", 2}}}});
  first.append(0, 1, Numbers{7, 1});
  second.append(0, 2, Numbers{2, 8, 9});

  const CellHistory history = read_history(folder.path());
  const MergedRows& train = *history.find("train");

  EXPECT_EQ(train.column("train_loss"), (Numbers{1, 2}));
  EXPECT_EQ(train.column("old")[0], 7);
  EXPECT_TRUE(std::isnan(train.column("old")[1]));
  EXPECT_TRUE(std::isnan(train.column("new")[0]));
  EXPECT_EQ(train.column("new")[3], 9);
}

TEST(CellHistory, KeepsWhatATornJournalStillTells) {
  TemporaryFolder folder;
  {
    Journal first = attempt(folder.path(), 1, 0);
    first.append(0, 1, Numbers{1, 1});
    first.append(0, 2, Numbers{2, 1});
  }
  const auto file = folder.path() / "journal-000001";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
  publish_replace(folder.path() / "journal-000002", "garbage");

  const CellHistory history = read_history(folder.path());

  ASSERT_EQ(history.attempts.size(), 2U);
  EXPECT_TRUE(history.attempts[0].torn);
  EXPECT_TRUE(history.attempts[1].torn);
  EXPECT_EQ(history.attempts[1].generation, 2);
  EXPECT_EQ(history.find("train")->rows.steps, Integers{1});
}

// As many numbers do not make the same ones: probes may look by other leaves after a resume.
TEST(CellHistory, LooksOfAnAttemptAlongOtherLabelsAreNotThoseOfTheNewest) {
  TemporaryFolder folder;
  const std::vector<RowKind> kinds = {
      {"probe", {{"lyapunov_exponent", 1}, {"lyapunov_log_det", 1}}}};
  const auto probed = [&](std::int64_t generation, const std::string& variant) {
    return Journal(folder.path() / generation_name("journal", generation),
                   {.generation = generation,
                    .kinds = kinds,
                    .attempt_json = "{}",
                    .axes = {{"exponent", 1, {}, {}}, {"lyapunov_variant", 1, {variant}, {}}}});
  };
  probed(1, "raw").append(0, 4, Numbers{1, 10});
  probed(2, "relative").append(0, 8, Numbers{2, 20});

  const CellHistory history = read_history(folder.path());

  const auto variant =
      std::ranges::find(history.axes, std::string("lyapunov_variant"), &RowAxis::name);
  ASSERT_NE(variant, history.axes.end());
  EXPECT_EQ(variant->labels, std::vector<std::string>{"relative"});
  const Numbers exponents = history.find("probe")->column("lyapunov_exponent");
  EXPECT_TRUE(std::isnan(exponents[0])) << "a raw exponent under another name";
  EXPECT_EQ(exponents[1], 2);
  EXPECT_EQ(history.find("probe")->column("lyapunov_log_det"), (Numbers{10, 20}));
}

TEST(CellHistory, OfACellWithoutAttemptsIsEmpty) {
  TemporaryFolder folder;

  EXPECT_TRUE(read_history(folder.path()).attempts.empty());
  EXPECT_TRUE(read_history(folder.path() / "absent").kinds.empty());
}

}  // namespace cell_history_test
}  // namespace depthgrid
