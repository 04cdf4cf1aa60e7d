#include "core/depth/tableau.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace tableau_test {

using Row = std::array<double, Tableau::kMaxStages>;

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Row times(const Row& a, const Row& b) {
  Row out{};
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] * b[i];
  return out;
}

Row applied(const Tableau& m, const Row& v) {
  Row out{};
  for (std::size_t i = 0; i < v.size(); ++i) out[i] = dot(m.a[i], v);
  return out;
}

Row ones(const Tableau& m) {
  Row out{};
  for (std::size_t i = 0; i < m.stages; ++i) out[i] = 1;
  return out;
}

/// Order of weights `b` over the stages of `m`, up to 5, by the conditions of all rooted trees.
/// Source: Hairer, Norsett & Wanner, Solving ODEs I, table II.2.1.
int order_of(const Tableau& m, const Row& b) {
  const Row& c = m.c;
  const Row c2 = times(c, c);
  const auto is = [](double have, double want) { return std::abs(have - want) < 1e-14; };
  if (!is(dot(b, ones(m)), 1)) return 0;
  if (!is(dot(b, c), 1.0 / 2)) return 1;
  if (!is(dot(b, c2), 1.0 / 3) || !is(dot(b, applied(m, c)), 1.0 / 6)) return 2;
  const bool fourth =
      is(dot(b, times(c2, c)), 1.0 / 4) && is(dot(b, times(c, applied(m, c))), 1.0 / 8) &&
      is(dot(b, applied(m, c2)), 1.0 / 12) && is(dot(b, applied(m, applied(m, c))), 1.0 / 24);
  if (!fourth) return 3;
  const Row slopes = applied(m, c), c3 = times(c2, c);
  const bool fifth =
      is(dot(b, times(c2, c2)), 1.0 / 5) && is(dot(b, times(c2, slopes)), 1.0 / 10) &&
      is(dot(b, times(slopes, slopes)), 1.0 / 20) &&
      is(dot(b, times(c, applied(m, c2))), 1.0 / 15) && is(dot(b, applied(m, c3)), 1.0 / 20) &&
      is(dot(b, times(c, applied(m, slopes))), 1.0 / 30) &&
      is(dot(b, applied(m, times(c, slopes))), 1.0 / 40) &&
      is(dot(b, applied(m, applied(m, c2))), 1.0 / 60) &&
      is(dot(b, applied(m, applied(m, slopes))), 1.0 / 120);
  return fifth ? 5 : 4;
}

class EveryTableau : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryTableau, FulfilsTheConditionsOfItsOrderAndNoMore) {
  const Tableau& m = tableau(GetParam());
  EXPECT_EQ(m.name, GetParam());
  EXPECT_EQ(order_of(m, m.b), m.order);
}

TEST_P(EveryTableau, IsExplicitAndItsNodesAreItsRowSums) {
  const Tableau& m = tableau(GetParam());
  const Row sums = applied(m, ones(m));
  for (std::size_t i = 0; i < m.c.size(); ++i) {
    EXPECT_NEAR(sums[i], m.c[i], 4e-15) << i;
    for (std::size_t j = i; j < m.c.size(); ++j) EXPECT_EQ(m.a[i][j], 0) << i << ' ' << j;
    EXPECT_EQ(i < m.stages ? 0 : m.b[i], 0) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryTableau,
                         ::testing::Values("euler", "midpoint", "heun", "rk4", "rk4_38", "bosh3",
                                           "dopri5"),
                         [](const auto& p) { return std::string(p.param); });

TEST(Tableau, TheEmbeddedMethodOfBosh3HasOrderTwo) {
  Row embedded{};
  for (std::size_t i = 0; i < embedded.size(); ++i) embedded[i] = kBosh3.b[i] - kBosh3.error[i];
  EXPECT_EQ(order_of(kBosh3, embedded), 2);
}

/// Its weights are Dormand's and Prince's own, not those of Shampine (1986), and the last stage is
/// the first of the next step.
TEST(Tableau, TheEmbeddedMethodOfDopri5HasOrderFourAndItsLastStageIsTheResult) {
  Row embedded{};
  for (std::size_t i = 0; i < embedded.size(); ++i) {
    embedded[i] = kDopri5.b[i] - kDopri5.error[i];
    EXPECT_EQ(kDopri5.a[6][i], kDopri5.b[i]) << i;
  }
  EXPECT_EQ(order_of(kDopri5, embedded), 4);
  EXPECT_DOUBLE_EQ(embedded[0], 5179.0 / 57600);
  EXPECT_DOUBLE_EQ(embedded[6], 1.0 / 40);
}

TEST(Tableau, AnUnknownNameIsAnErrorThatListsTheKnown) {
  try {
    tableau("rk5");
    FAIL() << "rk5 was found";
  } catch (const Error& e) {
    EXPECT_STREQ(
        e.what(),
        "unknown integrator 'rk5'; known: euler, midpoint, heun, rk4, rk4_38, bosh3, dopri5");
  }
}

}  // namespace tableau_test
}  // namespace depthgrid
