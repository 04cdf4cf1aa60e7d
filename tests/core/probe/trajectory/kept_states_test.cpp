#include "core/probe/trajectory/kept_states.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include "core/probe/trajectory/trajectory_probe.hpp"
#include "tests/core/probe/fake_subject.hpp"
#include "tests/core/probe/recorded_rows.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid {
namespace kept_states_test {

using testing::FakeSubject;
using testing::RecordedRows;
using Kept = RecordedRows::Kept;

/// L + 1 tensors (cells, n, T, C).
std::vector<at::Tensor> some_states(at::IntArrayRef sizes, int steps) {
  std::vector<at::Tensor> out;
  for (int l = 0; l <= steps; ++l) out.push_back(at::randn(sizes));
  return out;
}

FakeSubject subject_of(std::vector<at::Tensor> states) {
  const auto edges = static_cast<std::int64_t>(states.size());
  const at::Tensor times =
      at::linspace(0, 1, edges, at::kDouble).expand({states[0].size(0), edges});
  return {std::move(states), times};
}

RecordedRows look_at(const ProbeSubject& subject, const StateSelection& kept,
                     std::int64_t batch = 2) {
  TrajectoryProbe probe(
      subject, {.schedule = ProbeSchedule("end", 10), .cka = false, .batch = batch, .kept = kept});
  RecordedRows out;
  probe.declare(out);
  probe.measure(10, out);
  return out;
}

/// (L + 1, n, T, k) as it was kept.
at::Tensor tensor_of(const Kept& kept, at::IntArrayRef sizes) {
  at::Tensor out = at::empty(sizes, kept.half ? at::kHalf : at::kFloat);
  EXPECT_EQ(out.nbytes(), kept.states.size());
  std::memcpy(out.mutable_data_ptr(), kept.states.data(),
              std::min(out.nbytes(), kept.states.size()));
  return out;
}

TEST(KeptStates, AreTheStatesOfTheFirstSequencesInSinglePrecision) {
  const std::vector<at::Tensor> states = some_states({2, 5, 64, 6}, 3);
  const RecordedRows rows = look_at(subject_of(states), {.sequences = 3, .half = false});

  ASSERT_EQ(rows.kept.size(), 2U);
  for (std::int64_t e = 0; e < 2; ++e) {
    const Kept& kept = rows.kept.at(static_cast<std::size_t>(e));
    std::vector<at::Tensor> wanted;
    for (const at::Tensor& state : states) wanted.push_back(state[e].narrow(0, 0, 3));
    EXPECT_TRUE(at::equal(tensor_of(kept, {4, 3, 64, 6}), at::stack(wanted)));
    EXPECT_EQ(kept.step, 10);
    EXPECT_FALSE(kept.half);
    EXPECT_EQ(kept.sequences, 3);
    EXPECT_EQ(kept.channels, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(kept.token_ids.size(), 3U * 64);
    ASSERT_EQ(kept.edge_times.size(), 4U);
    EXPECT_NEAR(kept.edge_times[1], 1.0 / 3, 1e-15);
  }
}

TEST(KeptStates, OfTheStudysSizeTake917504BytesInSinglePrecisionAndHalfOfThatInHalf) {
  const FakeSubject subject = subject_of(some_states({1, 1, 128, 256}, 6));
  const auto bytes = look_at(subject, {.sequences = 1, .half = false}).kept.at(0).states.size();
  testing::verdict(36, "states of 7 × 128 × 256 in float32: bytes", static_cast<double>(bytes),
                   testing::exactly(917504));
  EXPECT_EQ(look_at(subject, {.sequences = 1}).kept.at(0).states.size(), 458752U);
}

TEST(KeptStates, ReturnFromHalfPrecisionWithinItsRounding) {
  const std::vector<at::Tensor> states = some_states({1, 2, 64, 8}, 2);
  const RecordedRows rows = look_at(subject_of(states), {.sequences = 2});
  const at::Tensor x = at::stack(states).select(1, 0);
  const at::Tensor half = tensor_of(rows.kept.at(0), {3, 2, 64, 8}).to(at::kFloat);

  const at::Tensor error = (half - x).abs();
  // Half a unit in the last of 11 bits; below 2^-14 the spacing is fixed.
  const at::Tensor bound = x.abs() * std::ldexp(1.0, -11) + std::ldexp(1.0, -25);
  EXPECT_TRUE((error <= bound).all().item<bool>()) << error.max().item<double>();
  EXPECT_GT(error.max().item<double>(), 0);
}

TEST(KeptStates, OfACellAreTheSameBytesFusedAndAloneAndInPassesOfAnySize) {
  const std::vector<at::Tensor> states = some_states({3, 7, 64, 6}, 3);
  const StateSelection what{.sequences = 5, .channels = 4, .seed = 3};
  const RecordedRows fused = look_at(subject_of(states), what);
  for (std::int64_t e = 0; e < 3; ++e) {
    std::vector<at::Tensor> own;
    for (const at::Tensor& state : states) own.push_back(state.narrow(0, e, 1).clone());
    for (const std::int64_t batch : {1, 4, 100}) {
      const RecordedRows alone = look_at(subject_of(own), what, batch);
      EXPECT_EQ(alone.kept.at(0), fused.kept.at(static_cast<std::size_t>(e))) << e << " " << batch;
    }
  }
}

TEST(KeptStates, OfSomeChannelsAreThoseOfTheDraw) {
  const std::vector<at::Tensor> states = some_states({1, 2, 64, 16}, 1);
  const Kept kept =
      look_at(subject_of(states), {.sequences = 2, .channels = 5, .seed = 7, .half = false})
          .kept.at(0);
  EXPECT_EQ(kept.channels, kept_channels(16, 5, 7));
  const at::Tensor chosen = at::tensor(kept.channels, at::kLong);
  EXPECT_TRUE(at::equal(tensor_of(kept, {2, 2, 64, 5}),
                        at::stack(states).select(1, 0).index_select(3, chosen)));
}

TEST(KeptStates, ChannelsAreDrawnOnceEachByTheSeedAlone) {
  const std::vector<std::int64_t> some = kept_channels(256, 16, 1);
  EXPECT_EQ(some.size(), 16U);
  EXPECT_EQ(std::set<std::int64_t>(some.begin(), some.end()).size(), 16U);
  EXPECT_TRUE(std::ranges::is_sorted(some));
  EXPECT_TRUE(some.front() >= 0 && some.back() < 256);
  EXPECT_EQ(kept_channels(256, 16, 1), some);
  EXPECT_NE(kept_channels(256, 16, 2), some);
  EXPECT_EQ(kept_channels(4, 9, 1), (std::vector<std::int64_t>{0, 1, 2, 3})) << "there are no more";
  EXPECT_EQ(kept_channels(3, {}, 1), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(KeptStates, OfACellThatIsNotFiniteThereAreNone) {
  for (const std::int64_t sequence : {0, 5}) {  // kept, and not kept
    std::vector<at::Tensor> states = some_states({3, 6, 64, 4}, 2);
    states[1][1][sequence][3][2] = std::numeric_limits<float>::quiet_NaN();
    const RecordedRows rows = look_at(subject_of(states), {.sequences = 2});
    EXPECT_EQ(rows.kept.size(), 2U);
    EXPECT_FALSE(rows.kept.contains(1)) << sequence;
  }
}

TEST(KeptStates, BeyondTheRangeOfHalfPrecisionAreInfinite) {
  std::vector<at::Tensor> states = some_states({1, 1, 64, 4}, 1);
  states[1][0][0][0][0] = -1e6;
  const RecordedRows rows = look_at(subject_of(states), {.sequences = 1});
  const at::Tensor kept = tensor_of(rows.kept.at(0), {2, 1, 64, 4});
  EXPECT_EQ(kept[1][0][0][0].item<double>(), -std::numeric_limits<double>::infinity());
}

TEST(KeptStates, AreNotKeptUnlessAskedFor) {
  const FakeSubject subject = subject_of(some_states({1, 2, 64, 4}, 1));
  EXPECT_TRUE(look_at(subject, {}).kept.empty());
  EXPECT_EQ(look_at(subject, {.sequences = 9}).kept.at(0).sequences, 2) << "there are no more";
}

}  // namespace kept_states_test
}  // namespace depthgrid
