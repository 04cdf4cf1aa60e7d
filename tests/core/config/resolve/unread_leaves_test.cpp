#include <gtest/gtest.h>

#include "core/config/resolve/resolve.hpp"
#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace unread_leaves_test {

// A probe is switched off, or a cell has no gates, and what the probe was asked still stands.
TEST(UnreadLeaves, ObservationsThatNoCellReadsAreNoted) {
  const SweepFiles files;
  const Sweep off = files.load(
      "name: x\nmodel: {family: time_indexed}\n"
      "probes: {gates: {schedule: off, bins: 8}, trajectory: {token_classes: [rare]}}\n");
  EXPECT_EQ(off.cells.size(), 1u);
  ASSERT_EQ(off.notes.size(), 1u);
  EXPECT_NE(off.notes.front().find("3:"), std::string::npos) << off.notes.front();
  EXPECT_NE(off.notes.front().find("`probes.gates.bins`"), std::string::npos);
  EXPECT_NE(off.notes.front().find("`probes.gates.schedule` is `off`"), std::string::npos);
  const Sweep mixed = files.load(
      "name: x\nparameters: {model.family: [standard, time_indexed]}\nprobes: {gates: {bins: "
      "8}}\n");
  EXPECT_EQ(mixed.cells.size(), 2u);
  EXPECT_TRUE(mixed.notes.empty());
}

// Temporal norms and learned gains scale weights along depth without a gate.
TEST(UnreadLeaves, TheScheduleOfGatesIsReadWhereAnythingScalesWeightsAlongDepth) {
  const SweepFiles files;
  const auto notes_of = [&](const std::string& model) {
    return files.load("name: x\nmodel: {" + model + "}\nprobes: {gates: {schedule: end}}\n")
        .notes.size();
  };
  EXPECT_EQ(notes_of("family: tong, norm_kind: temporal_layer_norm"), 0u);
  EXPECT_EQ(notes_of("family: time_indexed, modulation: {gate: constant}, init: {gain: learned}"),
            0u);
  EXPECT_EQ(notes_of("family: tong"), 1u);
  EXPECT_EQ(notes_of("family: time_indexed, modulation: {gate: constant}"), 1u);
}

TEST(UnreadLeaves, TooFewTokensForTheSimilarityAreNoted) {
  const SweepFiles files;
  const Sweep few = files.load("name: x\ndata: {seq_len: 64}\nprobes: {set: {sequences: 8}}\n");
  ASSERT_EQ(few.notes.size(), 1u);
  EXPECT_NE(few.notes[0].find("needs 1024 tokens and is left out"), std::string::npos);
  EXPECT_NE(few.notes[0].find("gives 512"), std::string::npos) << few.notes[0];
  EXPECT_TRUE(files.load("name: x\nprobes: {set: {sequences: 8}}\n").notes.empty());
}

}  // namespace unread_leaves_test
}  // namespace depthgrid
