#include "storage/cells/cell_recovery.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace cell_recovery_test {

namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 20;
const std::string kDigest = "cafe";

/// A cell that was killed after step 20: one journal, checkpoints of steps 10 and 15.
class Recovery : public testing::Test {
 protected:
  Recovery() {
    Journal journal(file("journal-000001"), header(1));
    for (std::int64_t step = 1; step <= kSteps; ++step) {
      journal.append(0, step, std::vector<double>{1.0 / static_cast<double>(step)});
      if (step % 5 == 0) journal.append(1, step, std::vector<double>{2.0});
      ends_.push_back(journal.mark().bytes);
      if (step == 10 || step == 15) checkpoint(step, {journal.mark()});
    }
    bytes_ = read_file(file("journal-000001"));
  }

  static JournalHeader header(std::int64_t generation) {
    return {generation, 0, {{"train", {{"train_loss", 1}}}, {"eval", {{"eval_loss", 1}}}}, "{}"};
  }

  void checkpoint(std::int64_t step, const std::vector<JournalMark>& marks) const {
    static const std::vector<float> kWeights = {1, 2};
    CheckpointData data;
    data.step = step;
    data.config_digest = kDigest;
    data.numbers[kStepsMade] = static_cast<double>(step);
    data.texts[kJournalMarks] = marks_json(marks);
    data.tensors = {{"parameters", {2}, kWeights}};
    publish_checkpoint(cell_.path(), 1, data);
  }

  fs::path file(const std::string& name) const { return cell_.path() / name; }

  /// Step that the cell continues from; 0 without a checkpoint.
  std::int64_t recovered_step() {
    recovery_ = recover_cell(cell_.path(), kDigest);
    return recovery_.state ? recovery_.state->step : 0;
  }

  /// A byte inside the row of a step.
  std::size_t inside(std::int64_t step) const {
    return static_cast<std::size_t>(ends_.at(static_cast<std::size_t>(step - 1))) - 3;
  }

  void flip(std::int64_t step) {
    std::vector<std::byte> damaged = bytes_;
    damaged[inside(step)] ^= std::byte{16};
    overwrite(file("journal-000001"), damaged);
  }

  TemporaryFolder cell_;
  std::vector<std::uint64_t> ends_;  // bytes of the journal after each step
  std::vector<std::byte> bytes_;
  CellRecovery recovery_;
};

TEST_F(Recovery, AnUndamagedCellContinuesFromItsNewestCheckpoint) {
  EXPECT_EQ(recovered_step(), 15);
  EXPECT_TRUE(recovery_.rejected.empty());
  EXPECT_TRUE(recovery_.damages.empty());
  EXPECT_EQ(covered_steps(recovery_.before), kSteps);
}

TEST_F(Recovery, ADamagedRecordSendsItToTheCheckpointBeforeTheDamage) {
  flip(13);
  EXPECT_EQ(recovered_step(), 10);
  EXPECT_EQ(recovery_.rejected.size(), 1U);
  ASSERT_EQ(recovery_.damages.size(), 1U);
  EXPECT_NE(recovery_.damages[0].find("journal-000001: is damaged after step 12: "),
            std::string::npos)
      << recovery_.damages[0];
  EXPECT_TRUE(fs::exists(file("corrupt") / "ckpt-00000015-000001.h5")) << "nothing is deleted";
}

TEST_F(Recovery, DamageBeforeTheOldestCheckpointSendsItToTheStart) {
  flip(4);
  EXPECT_EQ(recovered_step(), 0);
  EXPECT_EQ(recovery_.rejected.size(), 2U);
}

TEST_F(Recovery, DamageBehindTheNewestCheckpointIsSaidAndComputedAgain) {
  flip(17);
  EXPECT_EQ(recovered_step(), 15);
  EXPECT_EQ(recovery_.damages.size(), 1U);
}

TEST_F(Recovery, ATornEndIsNoDamage) {
  overwrite(file("journal-000001"), std::span(bytes_).first(inside(kSteps)));
  EXPECT_EQ(recovered_step(), 15);
  EXPECT_TRUE(recovery_.damages.empty());
}

TEST_F(Recovery, WhatWasSyncedBeforeACheckpointMayNotBeCutOff) {
  overwrite(file("journal-000001"), std::span(bytes_).first(ends_[11]));
  EXPECT_EQ(recovered_step(), 10);
  overwrite(file("journal-000001"), {});
  EXPECT_EQ(recovered_step(), 0);
}

TEST_F(Recovery, AnEvaluationThatIsCutOutIsMissed) {
  const std::size_t eval = 8 + 16 + 8;  // bytes of a frame of one number
  std::vector<std::byte> cut = bytes_;
  const auto end = cut.begin() + static_cast<std::ptrdiff_t>(ends_[4]);
  cut.erase(end - static_cast<std::ptrdiff_t>(eval), end);
  overwrite(file("journal-000001"), cut);
  EXPECT_EQ(covered_steps(read_history(cell_.path())), kSteps) << "the training rows are whole";
  EXPECT_EQ(recovered_step(), 0);
}

TEST_F(Recovery, WhatIsNoJournalIsQuarantined) {
  const auto name = file("journal-000001");
  const std::vector<std::function<void()>> replacements = {
      [&] { fs::create_directory(name); },
      [&] { fs::create_symlink("/dev/null", name); },
      [&] { Journal(name, header(2)); },
      [&] {
        JournalHeader foreign = header(1);
        foreign.cell = "another";
        Journal(name, foreign);
      },
  };
  for (std::size_t i = 0; i < replacements.size(); ++i) {
    fs::remove(name);
    replacements[i]();
    EXPECT_EQ(recovered_step(), 0) << i;
    EXPECT_FALSE(recovery_.damages.empty()) << i;
    EXPECT_TRUE(fs::exists(fs::symlink_status(name.string() + ".damaged-" + std::to_string(i + 1))))
        << i;
    checkpoint(10, {});
    fs::remove_all(file("corrupt"));
    overwrite(name, bytes_);
  }
}

TEST_F(Recovery, TheNextAttemptVouchesForAllJournals) {
  const CellHistory before = read_history(cell_.path());
  Journal journal(file("journal-000002"), header(2));
  for (std::int64_t step = 16; step <= 18; ++step) {
    journal.append(0, step, std::vector<double>{1.0 / static_cast<double>(step)});
  }
  std::vector<JournalMark> marks = journal_marks(before);
  marks.push_back(journal.mark());
  checkpoint(18, marks);
  EXPECT_EQ(recovered_step(), 18);

  flip(19);  // of the first attempt, not read any more, but it was there
  EXPECT_EQ(recovered_step(), 15);
  EXPECT_EQ(covered_steps(recovery_.before), 18);
}

TEST_F(Recovery, CheckpointsOfOlderReleasesCountWhereTheRowsHaveNoHole) {
  LoadedCheckpoint old;
  old.step = 15;
  CellHistory history = read_history(cell_.path());
  EXPECT_EQ(lost_records(cell_.path(), history, old), "");
  fs::remove(file("journal-000001"));
  EXPECT_NE(lost_records(cell_.path(), read_history(cell_.path()), old), "");
  old.step = 0;
  EXPECT_EQ(lost_records(cell_.path(), read_history(cell_.path()), old), "");
}

}  // namespace cell_recovery_test
}  // namespace depthgrid
