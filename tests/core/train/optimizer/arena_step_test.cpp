#include "core/train/optimizer/arena_step.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/Parallel.h>
#include <c10/util/BFloat16.h>

#include "core/base/error.hpp"
#include "core/train/optimizer/adam.hpp"

namespace depthgrid {
namespace arena_step_test {

constexpr std::size_t kGroups = kParameterGroupCount;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// E cells with all their arrays; every number is a function of (cell id, index), so that a cell
/// can be made again alone.
struct Cells {
  explicit Cells(const std::vector<int>& ids, std::int64_t row)
      : row_size(row), p(size(ids)), m(size(ids)), v(size(ids)), g(size(ids)), shadow(size(ids)) {
    const std::size_t n = ids.size();
    lr.resize(n * kGroups);
    weight_decay.resize(n * kGroups);
    for (std::size_t e = 0; e < n; ++e) {
      const int id = ids[e];
      for (std::int64_t i = 0; i < row; ++i) {
        const std::size_t at = e * static_cast<std::size_t>(row) + static_cast<std::size_t>(i);
        p[at] = wave(id, i, 1);
        m[at] = 0.1F * wave(id, i, 2);
        v[at] = std::abs(0.01F * wave(id, i, 3));
        shadow[at] = static_cast<std::uint16_t>(id + i);
      }
      for (std::size_t k = 0; k < kGroups; ++k) {
        lr[e * kGroups + k] = 1e-2 * (1 + id) * (1 + 0.1 * static_cast<double>(k));
        weight_decay[e * kGroups + k] = 0.05 * (1 + id);
      }
      own[0].push_back(0.9 - 0.05 * id);
      own[1].push_back(0.99 - 0.01 * id);
      own[2].push_back(1e-8);
      clip.push_back(1.0 + id);
      active.push_back(1);
      step.push_back(1);
      scale.push_back(1);
    }
  }

  static float wave(int id, std::int64_t i, int kind) {
    return static_cast<float>(std::sin(0.37 * static_cast<double>(i + 1) * kind + id));
  }
  std::size_t size(const std::vector<int>& ids) const {
    return ids.size() * static_cast<std::size_t>(row_size);
  }

  void fill_gradients(const std::vector<int>& ids, int round) {
    for (std::size_t e = 0; e < ids.size(); ++e) {
      for (std::int64_t i = 0; i < row_size; ++i) {
        gradient(e, i) = wave(ids[e] + round, i, 4);
      }
    }
  }
  float& gradient(std::size_t e, std::int64_t i) {
    return g[e * static_cast<std::size_t>(row_size) + static_cast<std::size_t>(i)];
  }

  StepArena arena() {
    return {static_cast<std::int64_t>(active.size()),
            p.data(),
            {m.data(), v.data()},
            g.data(),
            shadow.data()};
  }
  StepRates rates() const { return {lr, weight_decay, own, clip, active, step, scale}; }

  std::int64_t row_size;
  std::vector<float> p, m, v, g;
  std::vector<std::uint16_t> shadow;
  std::vector<double> lr, weight_decay, clip;
  std::vector<std::vector<double>> own = std::vector<std::vector<double>>(3);  // betas, eps
  std::vector<std::uint8_t> active;
  std::vector<std::int64_t> step;
  std::vector<double> scale;
};

Segment part(std::int64_t offset, std::int64_t count, ParameterGroup group, bool frozen = false) {
  return {.offset = offset, .count = count, .group = group, .frozen = frozen};
}

SegmentTable whole(std::int64_t row) {
  const Segment all = part(0, row, ParameterGroup::Trunk);
  return {row, {&all, 1}};
}

/// A row of 7001 parameters, no multiple of anything, with three groups and a no-decay list.
SegmentTable mixed() {
  const std::vector<Segment> segments = {
      part(0, 1000, ParameterGroup::Embedding), part(1000, 5000, ParameterGroup::Trunk),
      part(6000, 77, ParameterGroup::Bias), part(6077, 924, ParameterGroup::Trunk)};
  return {7001, segments};
}

template <class T>
std::vector<T> row_of(const std::vector<T>& all, std::size_t e, std::int64_t row) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(e) * row;
  return {begin, begin + row};
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// One parameter's step, written out in float64 from the papers.
struct Reference {
  double p, m, v;

  void step(double g, double lr, double wd, double beta1, double beta2, double eps, double t,
            bool decoupled) {
    if (!decoupled) g += wd * p;
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    const double m_hat = m / (1 - std::pow(beta1, t));
    const double v_hat = v / (1 - std::pow(beta2, t));
    if (decoupled) p -= lr * wd * p;
    p -= lr * m_hat / (std::sqrt(v_hat) + eps);
  }
};

TEST(ArenaStep, FirstStepMovesEveryParameterByTheRate) {
  Cells c({0}, 3);
  c.p = {1, 2, -3};
  c.m = c.v = {0, 0, 0};
  c.g = {0.5, -0.25, 1e-3F};
  c.lr.assign(kGroups, 0.125);
  c.weight_decay.assign(kGroups, 0);
  c.clip = {kInfinity};
  ArenaStep adam(whole(3), make_adamw(), ClipScope::Global);

  const auto norms = adam.gradient_norms(c.arena(), c.rates());
  const auto done = adam.update(c.arena(), c.rates(), norms);

  EXPECT_NEAR(c.p[0], 0.875, 1e-5);  // m_hat / sqrt(v_hat) is the sign of g
  EXPECT_NEAR(c.p[1], 2.125, 1e-5);
  EXPECT_NEAR(c.p[2], -3.125, 1e-5);
  EXPECT_NEAR(norms.norm[0], std::sqrt(0.25 + 0.0625 + 1e-6), 1e-7);
  EXPECT_EQ(norms.factor[0], 1.0);
  EXPECT_NEAR(done.update_norm[0], 0.125 * std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(done.parameter_norm[0], std::sqrt(0.875 * 0.875 + 2.125 * 2.125 + 3.125 * 3.125),
              1e-5);
  EXPECT_EQ(c.g, (std::vector<float>{0, 0, 0}));
}

/// 20 steps of one parameter: p = 1, g_t = p - 3 cos(t), lr 0.1, betas (0.9, 0.999), decay 0.1;
/// from torch.optim.Adam and AdamW 2.11 in float64.
TEST(ArenaStep, TwentyStepsEndAtTheKnownNumbers) {
  for (const auto& [make, want] :
       {std::pair(&make_adam, 0.28579170591297637), std::pair(&make_adamw, 0.23584285396132346)}) {
    Cells c({0}, 1);
    c.p = {1};
    c.m = c.v = {0};
    c.lr.assign(kGroups, 0.1);
    c.weight_decay.assign(kGroups, 0.1);
    c.own = {{0.9}, {0.999}, {1e-8}};
    c.clip = {kInfinity};
    ArenaStep adam(whole(1), make(), ClipScope::Global);

    for (int t = 1; t <= 20; ++t) {
      c.g = {static_cast<float>(c.p[0] - 3 * std::cos(t))};
      c.step = {t};
      adam.update(c.arena(), c.rates(), adam.gradient_norms(c.arena(), c.rates()));
    }

    EXPECT_NEAR(c.p[0], want, 3e-6);
  }
}

TEST(ArenaStep, FollowsTheReferenceWithClipScaleAndDecayLists) {
  const std::vector<int> ids = {0, 1};
  for (const bool decoupled : {false, true}) {
    const SegmentTable table = mixed();
    Cells c(ids, table.row_size());
    c.scale = {0.5, 0.25};
    for (std::size_t e = 0; e < ids.size(); ++e) {
      for (const ParameterGroup g : {ParameterGroup::Embedding, ParameterGroup::Bias}) {
        c.weight_decay[e * kGroups + static_cast<std::size_t>(g)] = 0;
      }
    }
    ArenaStep adam(table, decoupled ? make_adamw() : make_adam(), ClipScope::Global);
    std::vector<Reference> reference;
    for (std::size_t i = 0; i < c.p.size(); ++i) reference.push_back({c.p[i], c.m[i], c.v[i]});

    for (int t = 1; t <= 5; ++t) {
      c.fill_gradients(ids, t);
      c.step = {t, t};
      const std::vector<float> g = c.g;
      const auto norms = adam.gradient_norms(c.arena(), c.rates());
      adam.update(c.arena(), c.rates(), norms);
      for (std::size_t e = 0; e < ids.size(); ++e) {
        double squares = 0;
        for (const float x : row_of(g, e, c.row_size)) squares += c.scale[e] * c.scale[e] * x * x;
        const double factor = std::min(1.0, c.clip[e] / (std::sqrt(squares) + 1e-6));
        EXPECT_NEAR(norms.norm[e], std::sqrt(squares), 1e-6 * std::sqrt(squares));
        EXPECT_NEAR(norms.factor[e], factor, 1e-6);
        EXPECT_NEAR(norms.norm_clipped[e], factor * std::sqrt(squares), 1e-5);
        for (const Segment& s : table.blocks()) {
          for (std::int64_t i = s.offset; i < s.offset + s.count; ++i) {
            const std::size_t at =
                e * static_cast<std::size_t>(c.row_size) + static_cast<std::size_t>(i);
            const std::size_t group = e * kGroups + static_cast<std::size_t>(s.group);
            reference[at].step(c.scale[e] * factor * g[at], c.lr[group], c.weight_decay[group],
                               c.own[0][e], c.own[1][e], c.own[2][e], t, decoupled);
          }
        }
      }
    }

    for (std::size_t i = 0; i < c.p.size(); ++i) {
      ASSERT_NEAR(c.p[i], reference[i].p, 2e-5) << i;
      ASSERT_NEAR(c.m[i], reference[i].m, 1e-5) << i;
      ASSERT_NEAR(c.v[i], reference[i].v, 1e-5) << i;
    }
  }
}

TEST(ArenaStep, ClipByGroupTakesEachGroupsOwnNorm) {
  const std::vector<Segment> segments = {part(0, 2, ParameterGroup::Trunk),
                                         part(2, 2, ParameterGroup::Router)};
  Cells c({0}, 4);
  c.g = {3, 4, 0.3F, 0.4F};
  c.clip = {1};
  ArenaStep adam({4, segments}, make_adam(), ClipScope::Group);

  const auto norms = adam.gradient_norms(c.arena(), c.rates());

  const auto trunk = static_cast<std::size_t>(ParameterGroup::Trunk);
  const auto router = static_cast<std::size_t>(ParameterGroup::Router);
  EXPECT_NEAR(norms.group_norm[trunk], 5, 1e-6);
  EXPECT_NEAR(norms.group_norm_clipped[trunk], 1, 1e-6);
  EXPECT_NEAR(norms.group_factor[trunk], 0.2, 1e-6);
  EXPECT_NEAR(norms.group_norm[router], 0.5, 1e-6);
  EXPECT_EQ(norms.group_factor[router], 1);
  EXPECT_NEAR(norms.norm[0], std::sqrt(25.25), 1e-6);
  EXPECT_NEAR(norms.norm_clipped[0], std::sqrt(1.25), 1e-6);
  EXPECT_NEAR(norms.factor[0], 0.2, 1e-6);

  c.m = {0, 0, 0, 0};
  adam.update(c.arena(), c.rates(), norms);

  EXPECT_NEAR(c.m[0] / 0.1, 0.6 + c.weight_decay[0] * Cells::wave(0, 0, 1), 1e-5);
  EXPECT_NEAR(c.m[2] / 0.1, 0.3 + c.weight_decay[0] * Cells::wave(0, 2, 1), 1e-5);
}

TEST(ArenaStep, GroupsApartAreClippedByTheirOwnNormAndTheOthersTogether) {
  const std::vector<Segment> segments = {part(0, 2, ParameterGroup::Trunk),
                                         part(2, 2, ParameterGroup::Bias),
                                         part(4, 2, ParameterGroup::Predictor)};
  Cells c({0}, 6);
  c.g = {3, 0, 0, 4, 30, 40};
  c.clip = {1};
  ArenaStep adam({6, segments}, make_adam(), ClipScope::apart({ParameterGroup::Predictor}));

  const auto norms = adam.gradient_norms(c.arena(), c.rates());

  const auto factor = [&](ParameterGroup g) {
    return norms.group_factor[static_cast<std::size_t>(g)];
  };
  EXPECT_NEAR(factor(ParameterGroup::Trunk), 0.2, 1e-6);
  EXPECT_NEAR(factor(ParameterGroup::Bias), 0.2, 1e-6);
  EXPECT_NEAR(factor(ParameterGroup::Predictor), 0.02, 1e-6);
  EXPECT_NEAR(norms.norm[0], std::sqrt(2525), 1e-5);
  EXPECT_NEAR(norms.norm_clipped[0], std::sqrt(2), 1e-5);
  EXPECT_NEAR(norms.factor[0], 0.02, 1e-6);
}

TEST(ArenaStep, CellsFusedHaveTheBitsOfEachAloneAtAnyNumberOfThreads) {
  const std::vector<int> ids = {0, 1, 2, 3};
  const SegmentTable table = mixed();
  const auto train = [&](const std::vector<int>& which) {
    Cells c(which, table.row_size());
    ArenaStep adam(table, make_adamw(), ClipScope::Global);
    std::vector<double> report;
    for (int t = 1; t <= 3; ++t) {
      c.fill_gradients(which, t);
      c.step.assign(which.size(), t);
      const auto norms = adam.gradient_norms(c.arena(), c.rates());
      const auto done = adam.update(c.arena(), c.rates(), norms);
      for (std::size_t e = 0; e < which.size(); ++e) {
        if (which[e] == ids.back()) {
          report.insert(report.end(), {norms.norm[e], done.update_norm[e], done.parameter_norm[e]});
        }
      }
    }
    return std::pair(c, report);
  };

  at::set_num_threads(1);
  const auto [fused, report] = train(ids);
  at::set_num_threads(3);
  const auto [threaded, threaded_report] = train(ids);
  const auto [last, last_report] = train({ids.back()});
  at::set_num_threads(1);

  EXPECT_TRUE(same_bits(fused.p, threaded.p));
  EXPECT_TRUE(same_bits(report, threaded_report));
  EXPECT_TRUE(same_bits(report, last_report));
  for (const std::size_t e : {0UL, 3UL}) {
    const Cells alone = train({ids[e]}).first;
    EXPECT_TRUE(same_bits(row_of(fused.p, e, fused.row_size), alone.p));
    EXPECT_TRUE(same_bits(row_of(fused.m, e, fused.row_size), alone.m));
    EXPECT_TRUE(same_bits(row_of(fused.v, e, fused.row_size), alone.v));
    EXPECT_TRUE(same_bits(row_of(fused.shadow, e, fused.row_size), alone.shadow));
  }
}

TEST(ArenaStep, NonFiniteCellIsHeldAndItsNeighboursAreUntouchedToTheBit) {
  const std::vector<int> ids = {0, 1, 2};
  const SegmentTable table = mixed();
  Cells healthy(ids, table.row_size());
  Cells sick(ids, table.row_size());
  healthy.fill_gradients(ids, 1);
  sick.fill_gradients(ids, 1);
  const Cells before = sick;
  sick.gradient(1, 6033) = kNan;
  ArenaStep adam(table, make_adamw(), ClipScope::Global);

  adam.update(healthy.arena(), healthy.rates(),
              adam.gradient_norms(healthy.arena(), healthy.rates()));
  const auto norms = adam.gradient_norms(sick.arena(), sick.rates());
  const auto done = adam.update(sick.arena(), sick.rates(), norms);

  EXPECT_EQ(norms.nonfinite, (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_TRUE(std::isfinite(norms.factor[0]));
  EXPECT_EQ(done.update_norm[1], 0);
  const std::int64_t row = table.row_size();
  for (const std::size_t e : {0UL, 2UL}) {
    EXPECT_TRUE(same_bits(row_of(sick.p, e, row), row_of(healthy.p, e, row)));
    EXPECT_TRUE(same_bits(row_of(sick.v, e, row), row_of(healthy.v, e, row)));
  }
  EXPECT_TRUE(same_bits(row_of(sick.p, 1, row), row_of(before.p, 1, row)));
  EXPECT_TRUE(same_bits(row_of(sick.m, 1, row), row_of(before.m, 1, row)));
  EXPECT_TRUE(same_bits(row_of(sick.v, 1, row), row_of(before.v, 1, row)));
  EXPECT_TRUE(same_bits(row_of(sick.shadow, 1, row), row_of(before.shadow, 1, row)));
  EXPECT_TRUE(same_bits(sick.g, std::vector<float>(sick.g.size(), 0.0F)));
}

TEST(ArenaStep, InfiniteAndOverflowingGradientsCountAsNonFinite) {
  ArenaStep adam(whole(40), make_adam(), ClipScope::Global);
  for (const float bad : {std::numeric_limits<float>::infinity(), 3e38F}) {
    Cells c({0}, 40);
    c.g[39] = bad;

    EXPECT_EQ(adam.gradient_norms(c.arena(), c.rates()).nonfinite[0], 1);
  }
}

TEST(ArenaStep, InactiveCellKeepsItsBitsAndLosesItsGradient) {
  const std::vector<int> ids = {0, 1};
  Cells c(ids, 100);
  c.fill_gradients(ids, 1);
  c.active = {1, 0};
  const Cells before = c;
  ArenaStep adam(whole(100), make_adamw(), ClipScope::Global);

  const auto done = adam.update(c.arena(), c.rates(), adam.gradient_norms(c.arena(), c.rates()));

  EXPECT_FALSE(same_bits(row_of(c.p, 0, 100), row_of(before.p, 0, 100)));
  EXPECT_TRUE(same_bits(row_of(c.p, 1, 100), row_of(before.p, 1, 100)));
  EXPECT_TRUE(same_bits(row_of(c.m, 1, 100), row_of(before.m, 1, 100)));
  EXPECT_EQ(c.gradient(1, 50), 0);
  EXPECT_EQ(done.update_norm[1], 0);
  EXPECT_GT(done.parameter_norm[1], 0);
}

TEST(ArenaStep, FrozenSegmentHasNoGradientAndNoUpdate) {
  const std::vector<Segment> segments = {part(0, 50, ParameterGroup::Trunk),
                                         part(50, 50, ParameterGroup::Head, true)};
  Cells c({0}, 100);
  c.fill_gradients({0}, 1);
  c.gradient(0, 70) = kNan;
  const Cells before = c;
  ArenaStep adam({100, segments}, make_adamw(), ClipScope::Global);

  const auto norms = adam.gradient_norms(c.arena(), c.rates());
  adam.update(c.arena(), c.rates(), norms);

  double squares = 0;
  for (int i = 0; i < 50; ++i)
    squares += before.g[static_cast<std::size_t>(i)] * before.g[static_cast<std::size_t>(i)];
  EXPECT_EQ(norms.nonfinite[0], 0);
  EXPECT_NEAR(norms.norm[0], std::sqrt(squares), 1e-5);
  EXPECT_EQ(norms.group_norm[static_cast<std::size_t>(ParameterGroup::Head)], 0);
  EXPECT_NE(c.p[49], before.p[49]);
  for (std::size_t i = 50; i < 100; ++i) {
    EXPECT_EQ(c.p[i], before.p[i]);
    EXPECT_EQ(c.m[i], before.m[i]);
    EXPECT_EQ(c.shadow[i], before.shadow[i]);
    EXPECT_EQ(c.g[i], 0);
  }
}

TEST(ArenaStep, ZeroRateLeavesParametersAndAdvancesMoments) {
  Cells c({0}, 10);
  c.fill_gradients({0}, 1);
  c.lr.assign(kGroups, 0);
  const Cells before = c;
  ArenaStep adam(whole(10), make_adamw(), ClipScope::Global);

  adam.update(c.arena(), c.rates(), adam.gradient_norms(c.arena(), c.rates()));

  EXPECT_TRUE(same_bits(c.p, before.p));
  EXPECT_FALSE(same_bits(c.m, before.m));
}

TEST(ArenaStep, UpdateWritesTheShadowOfTheNewParameters) {
  Cells c({0}, 777);
  c.fill_gradients({0}, 1);
  ArenaStep adam(whole(777), make_adamw(), ClipScope::Global);

  adam.update(c.arena(), c.rates(), adam.gradient_norms(c.arena(), c.rates()));

  std::vector<std::uint16_t> want(777);
  for (std::size_t i = 0; i < want.size(); ++i) want[i] = c10::BFloat16(c.p[i]).x;
  EXPECT_EQ(c.shadow, want);
}

TEST(ArenaStep, ShadowIsTheParameterRoundedToNearestEven) {
  Cells c({0}, 7);
  c.lr.assign(c.lr.size(), 0);  // no parameter moves
  // bfloat16 keeps 8 significant bits: 1 + 2^-8 is half way between 1 and 1 + 2^-7.
  c.p = {1.0F, 1.0F + 0x1p-8F, 1.0F + 0x3p-8F, 1.0F + 0x1p-8F + 0x1p-20F, -1.0F - 0x1p-8F, 3.4e38F,
         kNan};
  ArenaStep adam(whole(7), make_adamw(), ClipScope::Global);

  adam.update(c.arena(), c.rates(), adam.gradient_norms(c.arena(), c.rates()));

  EXPECT_EQ(c.shadow,
            (std::vector<std::uint16_t>{0x3f80, 0x3f80, 0x3f82, 0x3f81, 0xbf80, 0x7f80, 0x7fc0}));
}

TEST(ArenaStep, RefusesRatesOfAnotherNumberOfCells) {
  Cells c({0, 1}, 10);
  c.clip.pop_back();
  ArenaStep adam(whole(10), make_adam(), ClipScope::Global);

  EXPECT_THROW(adam.gradient_norms(c.arena(), c.rates()), ShapeError);
}

}  // namespace arena_step_test
}  // namespace depthgrid
