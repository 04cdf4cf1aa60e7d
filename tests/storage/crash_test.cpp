#include <array>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/cells/cell_file.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/publish.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace crash_test {

using Numbers = std::vector<double>;

/// A store with one planned cell.
struct PlannedCell {
  TemporaryFolder folder;
  Store store = Store::open_or_create(folder.path() / "s");
  StoredPlan plan = planned(store);

  std::filesystem::path path() const { return store.cell_dir(plan.cells[0].id); }

  /// A snapshot as a run makes it (worker/session/cell_recorder.cpp): of all journals so far.
  void snapshot() const {
    const CellHistory history = read_history(path());
    publish_metrics(path(), {.plan = plan.cells[0],
                             .sweep = plan,
                             .history = history,
                             .status = CellStatus::Running,
                             .facts = synthetic_facts()});
  }

 private:
  static StoredPlan planned(Store& store) {
    publish_plan(store, synthetic_sweep({1e-3}));
    return read_plan(store);
  }
};

double loss_at(std::size_t row) {
  return 1.0 / static_cast<double>(row + 1);
}

/// What an attempt does, flat out and for ever: row, acknowledgement, now and then a snapshot and a
/// checkpoint. The acknowledgement goes through the pipe after append() has returned.
[[noreturn]] void train(const PlannedCell& cell, std::int64_t generation, int pipe_end) {
  Journal journal(cell.path() / generation_name("journal", generation),
                  {generation, 0, {{"train", {{"train_loss", 1}}}}, "{}"});
  std::vector<float> weights(1000);
  for (std::int64_t step = 1;; ++step) {
    journal.append(0, step, Numbers{loss_at(static_cast<std::size_t>(step - 1))});
    if (write(pipe_end, &step, sizeof step) != sizeof step) _exit(1);
    weights[0] = static_cast<float>(step);
    if (step % 20 == 0) cell.snapshot();
    if (step % 25 == 0) {
      publish_checkpoint(cell.path(), generation, {step, "cafe", {}, {}, {{"w", {1000}, weights}}});
    }
  }
}

TEST(Crash, AfterThirtyKillsEveryFileIsReadableAndNoAcknowledgedRowIsLost) {
  const PlannedCell cell;
  constexpr int kKills = 30;
  std::int64_t acknowledged_in_all = 0;
  std::int64_t snapshots = 0;
  std::int64_t checkpoints = 0;

  for (int kill_number = 1; kill_number <= kKills; ++kill_number) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      train(cell, kill_number, ends[1]);
    }
    close(ends[1]);
    // The kill follows progress, never the clock: a slow disk then only makes the test slower. The
    // pipe still holds what was acknowledged between the decision and the kill.
    const std::int64_t kill_at = 40 + 17 * (kill_number % 11);
    std::int64_t acknowledged = 0;
    for (std::int64_t step = 0; read(ends[0], &step, sizeof step) == sizeof step;) {
      acknowledged = step;
      if (step == kill_at) kill(pid, SIGKILL);
    }
    close(ends[0]);
    waitpid(pid, nullptr, 0);

    const auto journal = read_journal(cell.path() / generation_name("journal", kill_number));
    ASSERT_GE(acknowledged, kill_at);
    ASSERT_EQ(journal.rows.size(), 1U);
    EXPECT_GE(static_cast<std::int64_t>(journal.rows[0].size()), acknowledged);
    acknowledged_in_all += acknowledged;
    if (std::filesystem::exists(cell.path() / "metrics.h5")) {
      const VariableColumn losses = TableReader(cell.path() / "metrics.h5").read("train_loss");
      ASSERT_GE(losses.items(), 20U);
      for (std::size_t row = 0; row < losses.items(); ++row) {
        ASSERT_EQ(losses.number(row), static_cast<float>(loss_at(row))) << "row " << row;
      }
      ++snapshots;
    }
    const auto search = newest_checkpoint(cell.path(), "cafe");
    EXPECT_TRUE(search.rejected.empty()) << search.rejected.front();
    if (search.found) {
      EXPECT_EQ(search.found->tensors[0].data[0], static_cast<float>(search.found->step));
      ++checkpoints;
    }
  }

  const CellHistory history = read_history(cell.path());
  EXPECT_EQ(history.attempts.size(), static_cast<std::size_t>(kKills));
  EXPECT_GT(history.replayed_steps, 0);
  EXPECT_EQ(history.replay_mismatches, 0);
  EXPECT_GT(acknowledged_in_all, 1000);
  EXPECT_GT(snapshots, kKills / 2);
  EXPECT_GT(checkpoints, kKills / 2);
}

TEST(Crash, AReaderNeverSeesAHalfFileAndNeverGoesBack) {
  const PlannedCell cell;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    Journal journal(cell.path() / generation_name("journal", 1),
                    {1, 0, {{"train", {{"train_loss", 1}}}}, "{}"});
    for (std::int64_t step = 1;; ++step) {
      journal.append(0, step, Numbers{static_cast<double>(step)});
      cell.snapshot();
      if (step == 1 && write(ends[1], "x", 1) != 1) _exit(1);
    }
  }
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  std::size_t rows = 0;
  for (int reads = 0; reads < 300 || rows <= 10; ++reads) {
    ASSERT_LT(reads, 100'000) << "the writer does not get on: " << rows << " rows";
    const std::size_t now = TableReader(cell.path() / "metrics.h5").read("train_loss").items();
    EXPECT_GE(now, rows);
    rows = now;
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace crash_test
}  // namespace depthgrid
