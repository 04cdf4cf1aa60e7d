#include "core/probe/trajectory/trajectory_probe.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "tests/core/probe/fake_subject.hpp"
#include "tests/core/probe/recorded_rows.hpp"

namespace depthgrid {
namespace trajectory_probe_test {

using testing::FakeSubject;
using testing::RecordedRows;

RecordedRows look_at(const ProbeSubject& subject, std::int64_t batch = 3, bool cka = true) {
  TrajectoryProbe probe(subject,
                        {.schedule = ProbeSchedule("end", 10), .cka = cka, .batch = batch});
  RecordedRows out;
  probe.declare(out);
  probe.measure(10, out);
  return out;
}

/// Random walks of tokens: L + 1 tensors (cells, n, T, C).
std::vector<at::Tensor> walks(at::IntArrayRef sizes, int steps) {
  std::vector<at::Tensor> out = {at::randn(sizes)};
  for (int l = 0; l < steps; ++l) out.push_back(out.back() + 0.3 * at::randn(sizes));
  return out;
}

/// Other depth-times for each cell, not uniform.
at::Tensor some_times(std::int64_t cells, int steps) {
  return (0.1 + at::rand({cells, steps + 1}, at::kDouble)).cumsum(1);
}

/// Cells first ... first + count - 1 as tensors of their own.
FakeSubject some_cells(const std::vector<at::Tensor>& states, const at::Tensor& times,
                       std::int64_t first, std::int64_t count) {
  std::vector<at::Tensor> part;
  for (const at::Tensor& state : states) part.push_back(state.narrow(0, first, count).clone());
  return {std::move(part), times.narrow(0, first, count).clone()};
}

/// The same numbers to the bit in every series.
void expect_same_bits(const RecordedRows& a, std::size_t cell_a, const RecordedRows& b,
                      std::size_t cell_b) {
  ASSERT_EQ(a.series.size(), b.series.size());
  for (const SeriesSpec& series : a.series) {
    const std::vector<double>&x = a.row(series.name, cell_a), &y = b.row(series.name, cell_b);
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(x[i]), std::bit_cast<std::uint64_t>(y[i]))
          << series.name << " " << i << ": " << x[i] << " and " << y[i];
    }
  }
}

TEST(TrajectoryProbe, DeclaresTheVariablesAndAxesOfTheStore) {
  std::ifstream page(std::string(DEPTHGRID_SOURCE_DIR) + "/docs/store-format.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  FakeSubject subject(walks({1, 2, 5, 3}, 4), some_times(1, 4));
  const at::Tensor all = at::ones({2, 5}, at::kBool);
  subject.classes({{.name = "first", .member = all}, {.name = "rare", .member = all}});
  const RecordedRows rows = look_at(subject);

  EXPECT_EQ(rows.series.size(), 20U);
  for (const SeriesSpec& series : rows.series) {
    std::string expected = "| `" + series.name + "` | cell, probe_step";
    for (const SeriesAxis& axis : series.axes) {
      expected += ", " + axis.name;
      EXPECT_EQ(axis.length, axis.name == "token_class" ? 2 : axis.name == "depth" ? 4 : 5);
      if (axis.name != "token_class") continue;
      EXPECT_EQ(axis.labels, (std::vector<std::string>{"first", "rare"}));
    }
    EXPECT_NE(text.find(expected + " | f4 | 1 |"), std::string::npos) << expected;
  }
  EXPECT_EQ(look_at(subject, 3, /*cka=*/false).series.size(), 19U);
}

TEST(TrajectoryProbe, NormsOfConstructedTokens) {
  // Token i of 101 has the RMS i at the first state and twice that at the second.
  const at::Tensor sizes = at::linspace(0, 100, 101).view({1, 1, 101, 1}).expand({1, 1, 101, 4});
  const FakeSubject subject({sizes, 2 * sizes}, some_times(1, 1));
  const RecordedRows rows = look_at(subject);

  EXPECT_NEAR(rows.row("trajectory_norm_mean")[0], 50, 1e-12);
  EXPECT_NEAR(rows.row("trajectory_norm_mean")[1], 100, 1e-12);
  EXPECT_NEAR(rows.row("trajectory_norm_std")[0], std::sqrt((101.0 * 101 - 1) / 12), 1e-12);
  EXPECT_NEAR(rows.row("trajectory_norm_p05")[0], 5, 1e-12);
  EXPECT_NEAR(rows.row("trajectory_norm_p50")[1], 100, 1e-12);
  EXPECT_NEAR(rows.row("trajectory_norm_p95")[0], 95, 1e-12);
  EXPECT_NEAR(rows.row("trajectory_norm_max")[1], 200, 1e-12);
  EXPECT_NEAR(rows.row("trajectory_displacement")[1], 1, 1e-12) << "all but the token at 0";
  EXPECT_NEAR(rows.row("trajectory_effective_rank")[0], 1, 1e-9) << "on one line";
  EXPECT_NEAR(rows.row("trajectory_participation_ratio")[1], 1, 1e-9);
}

TEST(TrajectoryProbe, ClassesOfTokensAreApart) {
  // Tokens at even positions go straight to twice their state, the others stay.
  const at::Tensor start = 1 + at::rand({1, 2, 6, 3});
  const at::Tensor even = at::tensor(std::vector<float>{1, 0, 1, 0, 1, 0}).view({1, 1, 6, 1});
  FakeSubject subject({start, start * (1 + even / 2), start * (1 + even)},
                      at::tensor(std::vector<double>{0, 0.5, 1}, at::kDouble).view({1, 3}));
  const at::Tensor moves = even.view({6}).to(at::kBool).expand({2, 6});
  subject.classes({{.name = "all", .member = at::ones({2, 6}, at::kBool)},
                   {.name = "moves", .member = moves},
                   {.name = "stays", .member = moves.logical_not()},
                   {.name = "none", .member = at::zeros({2, 6}, at::kBool)}});
  const RecordedRows rows = look_at(subject);
  const auto of_last = [&](const char* name) {  // the four classes at the last state or step
    const std::vector<double>& all = rows.row(name);
    return std::vector<double>(all.end() - 4, all.end());
  };
  const std::vector<double> displacement = of_last("trajectory_displacement");
  EXPECT_NEAR(displacement[0], 0.5, 1e-6);
  EXPECT_NEAR(displacement[1], 1, 1e-6);
  EXPECT_EQ(displacement[2], 0);
  EXPECT_TRUE(std::isnan(displacement[3]));
  const std::vector<double> cosine = of_last("trajectory_cosine_step");
  EXPECT_NEAR(cosine[0], 1, 1e-6) << "over the tokens that move";
  EXPECT_TRUE(std::isnan(cosine[2]));
  const std::vector<double> relative = of_last("trajectory_relative_velocity");
  EXPECT_NEAR(relative[1], 1 / 1.5, 1e-6) << "half a state in half the depth, from 1.5 states";
  EXPECT_EQ(relative[2], 0);
  EXPECT_GT(of_last("trajectory_norm_mean")[1], of_last("trajectory_norm_mean")[2]);
  EXPECT_TRUE(std::isnan(of_last("trajectory_norm_max")[3]));
}

TEST(TrajectoryProbe, VelocitiesAreByTheDepthTimesOfTheCell) {
  std::vector<at::Tensor> states = walks({2, 2, 5, 3}, 3);
  for (at::Tensor& state : states) state[1] = state[0];
  at::Tensor times = some_times(2, 3);
  times[1] = times[0] * 0.5;
  const RecordedRows rows = look_at(FakeSubject(states, times));

  for (const auto& [name, factor] : {std::pair{"velocity", 2.0},
                                     {"relative_velocity", 2.0},
                                     {"acceleration", 4.0},
                                     {"curvature", 1.0},
                                     {"path_length", 1.0},
                                     {"cosine_step", 1.0}}) {
    const std::string series = std::string("trajectory_") + name;
    const double slow = rows.row(series, 0).back(), fast = rows.row(series, 1).back();
    EXPECT_NEAR(fast / slow, factor, 1e-12) << name;
  }
}

TEST(TrajectoryProbe, StepsThatHaveNoneBeforeAreUndefined) {
  const RecordedRows rows = look_at(FakeSubject(walks({1, 2, 5, 3}, 3), some_times(1, 3)));

  for (const char* name : {"acceleration", "curvature", "cosine_step"}) {
    const std::vector<double>& row = rows.row(std::string("trajectory_") + name);
    ASSERT_EQ(row.size(), 3U);
    EXPECT_TRUE(std::isnan(row[0])) << name;
    EXPECT_TRUE(std::isfinite(row[1]) && std::isfinite(row[2])) << name;
  }
  for (const double x : rows.row("trajectory_velocity")) EXPECT_TRUE(std::isfinite(x));
  for (const double x : rows.row("trajectory_effective_rank")) EXPECT_TRUE(std::isfinite(x));
  for (const double x : rows.row("trajectory_cka")) EXPECT_TRUE(std::isnan(x)) << "10 tokens";
}

TEST(TrajectoryProbe, CkaNeeds1024Tokens) {
  std::vector<at::Tensor> states = walks({1, 16, 64, 8}, 1);  // 1024 tokens
  const FakeSubject enough(states, some_times(1, 1));
  const RecordedRows rows = look_at(enough, 5);
  const std::vector<double>& cka = rows.row("trajectory_cka");
  ASSERT_EQ(cka.size(), 4U);
  EXPECT_NEAR(cka[0], 1, 1e-12);
  EXPECT_NEAR(cka[3], 1, 1e-12);
  EXPECT_EQ(cka[1], cka[2]);
  EXPECT_GT(cka[1], 0.7);
  EXPECT_LT(cka[1], 0.99);

  for (at::Tensor& state : states) state = state.narrow(2, 0, 63);
  const RecordedRows fewer = look_at(FakeSubject(states, some_times(1, 1)), 5);
  for (const double x : fewer.row("trajectory_cka")) EXPECT_TRUE(std::isnan(x));
}

TEST(TrajectoryProbe, NumbersOfACellAreTheSameBitsFusedAndAlone) {
  for (const auto& sizes : {std::vector<std::int64_t>{3, 5, 7, 5}, {3, 3, 9, 33}, {3, 36, 29, 6}}) {
    const std::vector<at::Tensor> states = walks(sizes, 3);
    const at::Tensor times = some_times(3, 3);
    const RecordedRows fused = look_at(some_cells(states, times, 0, 3));
    for (std::int64_t e = 0; e < 3; ++e) {
      expect_same_bits(fused, static_cast<std::size_t>(e), look_at(some_cells(states, times, e, 1)),
                       0);
    }
  }
}

TEST(TrajectoryProbe, PiecesOfAnySizeGiveTheSameBits) {
  const FakeSubject subject(walks({2, 36, 29, 6}, 3), some_times(2, 3));  // 1044 tokens
  const RecordedRows one_by_one = look_at(subject, 1);
  for (const std::int64_t batch : {2, 7, 36, 1000}) {
    const RecordedRows pieces = look_at(subject, batch);
    for (const std::size_t e : {0, 1}) expect_same_bits(one_by_one, e, pieces, e);
  }
}

TEST(TrajectoryProbe, ACellThatIsNotFiniteHasNoNumbersAndDisturbsNoOther) {
  const std::vector<at::Tensor> states = walks({3, 36, 29, 6}, 3);
  const at::Tensor times = some_times(3, 3);
  const RecordedRows sound = look_at(some_cells(states, times, 0, 3));
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    for (const std::int64_t sequence : {0, 20}) {
      std::vector<at::Tensor> broken;
      for (const at::Tensor& state : states) broken.push_back(state.clone());
      broken[2][1][sequence][3][4].fill_(bad);  // one channel of one token at one depth
      const RecordedRows rows = look_at(FakeSubject(broken, times));
      for (const SeriesSpec& series : rows.series) {
        for (const double x : rows.row(series.name, 1)) EXPECT_TRUE(std::isnan(x)) << series.name;
      }
      for (const std::size_t e : {0, 2}) expect_same_bits(sound, e, rows, e);
    }
  }
}

TEST(TrajectoryProbe, LargeFiniteStatesHaveNumbers) {
  std::vector<at::Tensor> states = walks({1, 36, 29, 6}, 2);
  const RecordedRows usual =
      look_at(FakeSubject(states, at::linspace(0, 1, 3, at::kDouble).view({1, 3})));
  for (at::Tensor& state : states) state *= 1e30;
  const RecordedRows large =
      look_at(FakeSubject(states, at::linspace(0, 1, 3, at::kDouble).view({1, 3})));

  for (const char* name :
       {"effective_rank", "participation_ratio", "cka", "cosine_final", "tortuosity"}) {
    const std::string series = std::string("trajectory_") + name;
    for (std::size_t i = 0; i < usual.row(series).size(); ++i) {
      EXPECT_NEAR(large.row(series)[i], usual.row(series)[i], 1e-5 * usual.row(series)[i]) << name;
    }
  }
}

TEST(TrajectoryProbe, LooksWithoutGradients) {
  std::vector<at::Tensor> states = walks({1, 2, 5, 3}, 2);
  for (at::Tensor& state : states) state.requires_grad_(true);
  EXPECT_TRUE(
      std::isfinite(look_at(FakeSubject(states, some_times(1, 2))).row("trajectory_norm_mean")[0]));
}

TEST(TrajectoryProbe, APassOfNoSequencesIsAnError) {
  const FakeSubject subject(walks({1, 2, 5, 3}, 2), some_times(1, 2));
  EXPECT_THROW(TrajectoryProbe(subject, {.schedule = {}, .cka = true, .batch = 0}), Error);
}

}  // namespace trajectory_probe_test
}  // namespace depthgrid
