#include "storage/cells/cell_profile.hpp"

#include <array>
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/probed_cell.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace cell_profile_test {

using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;

class CellProfiles : public testing::Test {
 protected:
  std::optional<CellProfile> profile(const ProbedCell& cell, const ProfileRequest& request) const {
    cell.publish(file());
    return read_cell_profiles(file(), "a", std::array{request}).at(0);
  }
  std::filesystem::path file() const { return folder_.path() / "result.h5"; }

  TemporaryFolder folder_;
};

/// Two looks at two steps of three types of weight: 100 look + 10 depth + type.
ProbedCell gates() {
  Numbers values;
  for (const int look : {0, 1}) {
    for (const int depth : {1, 2}) {
      for (const int type : {0, 1, 2}) values.push_back(100 * look + 10 * depth + type);
    }
  }
  ProbedCell out;
  out.axis("probe_step", {0, 50}).axis("depth", {1, 2}).names("weight_type", {"q", "k", "up"});
  return out.numbers("gate_mean", values);
}

/// The equality of numbers of which NaN is one.
void expect_numbers(const Numbers& found, const Numbers& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << i;
    } else {
      EXPECT_DOUBLE_EQ(found[i], expected[i]) << i;
    }
  }
}

TEST_F(CellProfiles, TakeTheLastLookAndAverageOverTheOtherAxes) {
  const auto found = profile(gates(), {"gate_mean", "depth"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, 50);
  EXPECT_EQ(found->at, (Numbers{1, 2}));
  EXPECT_EQ(found->names, (Texts{"1", "2"}));
  EXPECT_EQ(found->lines, Texts{""});
  EXPECT_EQ(found->values, (Numbers{111, 121})) << "means over q, k and up";
}

TEST_F(CellProfiles, HaveALineForEachEntryOfAnAxis) {
  const auto found = profile(gates(), {"gate_mean", "depth", "weight_type"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->lines, (Texts{"q", "k", "up"}));
  EXPECT_EQ(found->values, (Numbers{110, 120, 111, 121, 112, 122}));
}

TEST_F(CellProfiles, AlongTrainingHaveAllLooks) {
  const auto found = profile(gates(), {"gate_mean", "probe_step", "depth"});
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::isnan(found->step));
  EXPECT_EQ(found->at, (Numbers{0, 50}));
  EXPECT_EQ(found->lines, (Texts{"1", "2"}));
  EXPECT_EQ(found->values, (Numbers{11, 111, 21, 121}));
}

/// Other probes look at other steps, and layers that never skip have no numbers.
TEST_F(CellProfiles, LeaveOutLooksAndLinesWithoutANumber) {
  ProbedCell cell;
  cell.axis("probe_step", {0, 10, 20}).axis("layer", {0, 1});
  cell.numbers("routing_kv_fill", {kNaN, 0.5, kNaN, 0.25, kNaN, kNaN});
  const auto last = profile(cell, {"routing_kv_fill", "layer"});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->step, 10) << "not 20, where this probe did not look";
  EXPECT_EQ(last->at, Numbers{1});
  EXPECT_EQ(last->values, Numbers{0.25});
  const auto all = profile(cell, {"routing_kv_fill", "probe_step", "layer"});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->at, (Numbers{0, 10}));
  EXPECT_EQ(all->lines, Texts{"1"});
  EXPECT_EQ(all->values, (Numbers{0.5, 0.25}));
}

TEST_F(CellProfiles, AMeanIsOfTheNumbersThatAreFiniteAndAGapStaysOne) {
  ProbedCell cell;
  cell.axis("probe_step", {5}).axis("depth", {1, 2}).axis("head", {0, 1});
  cell.numbers("attention_entropy", {0.5, kNaN, kNaN, kNaN});
  const auto found = profile(cell, {"attention_entropy", "probe_step", "head"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->lines, Texts{"0"});
  EXPECT_EQ(found->values, Numbers{0.5});
  ProbedCell gaps;
  gaps.axis("probe_step", {5, 6}).axis("depth", {1, 2});
  gaps.numbers("gradient_norm_depth", {1, kNaN, 3, 4});
  const auto lines = profile(gaps, {"gradient_norm_depth", "probe_step", "depth"});
  ASSERT_TRUE(lines);
  expect_numbers(lines->values, {1, 3, kNaN, 4});
}

TEST_F(CellProfiles, OfNamesThatAreAlternativesOneCounts) {
  ProbedCell cell;
  cell.axis("probe_step", {7}).axis("exponent", {1, 2});
  cell.names("lyapunov_variant", {"raw", "normalised"});
  cell.numbers("lyapunov_exponent", {3, 2, -1, -2});
  EXPECT_EQ(profile(cell, {"lyapunov_exponent", "exponent"})->values, (Numbers{3, 2}));
  EXPECT_EQ(profile(cell, {"lyapunov_exponent", "exponent", "", "normalised"})->values,
            (Numbers{-1, -2}));
  EXPECT_FALSE(profile(cell, {"lyapunov_exponent", "exponent", "", "relative"}));
  EXPECT_EQ(profile(cell, {"lyapunov_exponent", "exponent", "lyapunov_variant"})->lines,
            (Texts{"raw", "normalised"}));
}

TEST_F(CellProfiles, ReadWhatHasNoLooks) {
  ProbedCell cell;
  cell.names("control_axis", {"long", "digits"}).names("control_axis_b", {"long", "digits"});
  cell.numbers("control_auc", {0.75, 0.5, 0.25, 1});
  const auto found = profile(cell, {"control_auc", "control_axis_b", "control_axis"});
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::isnan(found->step));
  EXPECT_EQ(found->names, (Texts{"long", "digits"}));
  EXPECT_EQ(found->lines, (Texts{"long", "digits"}));
  EXPECT_EQ(found->values, (Numbers{0.75, 0.5, 0.25, 1}));
}

TEST_F(CellProfiles, AnAbsentCountIsNoNumber) {
  ProbedCell cell;
  cell.axis("probe_step", {0, 9}).numbers("gradient_clip_count", {4, kNaN});  // NaN is stored as -1
  const auto found = profile(cell, {"gradient_clip_count", "probe_step"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at, Numbers{0});
  EXPECT_EQ(found->values, Numbers{4});
}

TEST_F(CellProfiles, NothingIsMadeUpOfWhatIsNotThere) {
  EXPECT_FALSE(profile(gates(), {"gate_std", "depth"})) << "not in the file";
  EXPECT_FALSE(profile(gates(), {"gate_mean", "exponent"})) << "no axis of it";
  EXPECT_FALSE(profile(gates(), {"gate_mean", "depth", "layer"}));
  EXPECT_FALSE(profile(gates(), {"gate_mean", "depth", "depth"})) << "one axis is not two";
  EXPECT_FALSE(profile(gates(), {"no_variable", "depth"}));
  ProbedCell empty;
  empty.axis("probe_step", {1}).axis("depth", {1, 2}).numbers("gradient_norm_depth", {kNaN, kNaN});
  EXPECT_FALSE(profile(empty, {"gradient_norm_depth", "depth"}));
}

TEST_F(CellProfiles, ADamagedOrForeignFileIsAnError) {
  const std::array requests = {ProfileRequest{"gate_mean", "depth"}};
  gates().publish(file());
  EXPECT_THROW(read_cell_profiles(file(), "b", requests), StorageError) << "holds cell a";
  auto bytes = read_file(file());
  bytes[bytes.size() / 2] ^= std::byte{1};
  overwrite(file(), bytes);
  EXPECT_THROW(read_cell_profiles(file(), "a", requests), StorageError);
  std::filesystem::remove(file());
  EXPECT_THROW(read_cell_profiles(file(), "a", requests), StorageError);
}

}  // namespace cell_profile_test
}  // namespace depthgrid
