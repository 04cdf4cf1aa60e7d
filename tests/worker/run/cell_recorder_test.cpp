#include "worker/run/cell_recorder.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace {

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

}  // namespace
}  // namespace depthgrid
