#include "worker/audit/audit_twin.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "tests/support/model_cases.hpp"
#include "worker/audit/audit_models.hpp"
#include "worker/audit/audit_modes.hpp"
#include "worker/audit/suffix_probe.hpp"

namespace depthgrid::testing {
namespace audit_twin_test {

TEST(AuditTwin, CutsSizesAndKeepsOptions) {
  const CellConfig config = make_config({{"model.preset", "published/time_indexed_ssm"}});
  const ModelOptions o = model_options({&config});

  const ModelOptions twin = twin_of(o, kPassTwin);

  EXPECT_EQ(twin.width, 64);
  EXPECT_EQ(twin.heads, 4);
  EXPECT_EQ(twin.hidden, o.hidden * 64 / 256);
  EXPECT_EQ(twin.layers, 4);
  EXPECT_EQ(twin.vocabulary, 61);
  EXPECT_EQ(twin.ssm.generated, o.ssm.generated);
  EXPECT_EQ(twin.norm, o.norm);
  EXPECT_EQ(twin.time.kind, o.time.kind);
}

TEST(AuditTwin, OfASmallStructureIsItself) {
  const ModelOptions o = small_options("time_indexed");

  const ModelOptions twin = twin_of(o, kPassTwin);

  EXPECT_EQ(twin.width, o.width);
  EXPECT_EQ(twin.hidden, o.hidden);
  EXPECT_EQ(twin.heads, o.heads);
  EXPECT_EQ(twin.layers, o.layers);
  EXPECT_EQ(twin.vocabulary, o.vocabulary);
  EXPECT_EQ(twin.max_tokens, o.max_tokens);
}

TEST(AuditTwin, HeadsCutItsWidthIntoEvenParts) {
  for (const std::int64_t heads : {1, 2, 3, 5, 6, 7, 12, 16}) {
    ModelOptions o = small_options("standard");
    o.width = 840 * heads;
    o.heads = heads;
    const ModelOptions twin = twin_of(o, kLearningTwin);
    EXPECT_EQ(twin.width % (2 * twin.heads), 0) << heads;
    EXPECT_GE(twin.width / twin.heads, 8) << heads;
  }
}

TEST(AuditTwin, LearnsWithoutNoise) {
  ModelOptions o = small_options("tong", 2);
  o.dropout_attention = {0.1, 0.2};
  o.time.jitter = {0.3, 0};

  const ModelOptions quiet = without_noise(o);

  EXPECT_EQ(quiet.dropout_attention, (std::vector<double>{0, 0}));
  EXPECT_EQ(quiet.time.jitter, (std::vector<double>{0, 0}));
}

TEST(SuffixProbe, EveryPositionIsACut) {
  EXPECT_EQ(all_cuts(2), std::vector<std::int64_t>{1});
  EXPECT_EQ(all_cuts(4), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(all_cuts(128).size(), 127U);
}

TEST(SuffixProbe, AFewCutsHoldBothEnds) {
  const std::vector<std::int64_t> few = some_cuts(128, 10);

  ASSERT_EQ(few.size(), 10U);
  for (const std::int64_t cut : {1, 2, 3, 125, 126, 127}) {
    EXPECT_NE(std::ranges::find(few, cut), few.end()) << cut;
  }
  EXPECT_TRUE(std::ranges::is_sorted(few));
}

AuditSubject routed_subject(double capacity) {
  AuditSubject s;
  s.options = [capacity](const std::vector<std::size_t>& cells) {
    ModelOptions o = small_options("tdt", static_cast<std::int64_t>(cells.size()));
    o.routing.capacity.assign(cells.size(), capacity);
    return o;
  };
  s.tokens = 9;
  return s;
}

// At the capacities 0 and 1 nothing is decided, and a decision that is not made cannot leak.
TEST(AuditModels, SomeCellChoosesAmongItsTokens) {
  for (const double capacity : {0.0, 1.0}) {
    const AuditModels models(routed_subject(capacity));
    const std::vector<double> seen = models.various(kDeepTwin, models.cells()).routing.capacity;
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen.front(), capacity);
    EXPECT_TRUE(std::ranges::any_of(seen, [](double c) { return c > 0.2 && c < 0.8; }));
  }
}

TEST(AuditModes, CalibratedModesExecuteHalfOfTheTokens) {
  const AuditModels models(routed_subject(1));
  const AuditModel model = models.twin(kDeepTwin, models.cells());
  std::vector<std::string> seen;
  for (const AuditedMode& mode : steered_modes(model, 9)) {
    if (!steered(mode)) continue;
    seen.push_back(mode.name);
    const SuffixEffect effect =
        change_suffixes(model, 9, mode.context, {.cuts = all_cuts(9)}, false);
    EXPECT_GT(effect.least, 0.1) << mode.name;
    EXPECT_LT(effect.most, 0.9) << mode.name;
    EXPECT_TRUE(effect.same) << effect.what;
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"teacher_threshold", "student_calibrated"}));
}

// A fixed threshold that no probability reaches shows as little as one that all do.
TEST(AuditModes, FixedThresholdsExecuteHalfOfTheTokens) {
  AuditSubject s = routed_subject(1);
  const auto plain = s.options;
  s.options = [plain](const std::vector<std::size_t>& cells) {
    ModelOptions o = plain(cells);
    o.routing.threshold.assign(cells.size(), 0.999);
    return o;
  };
  const AuditModels models(s);
  ModelOptions o = models.various(kDeepTwin, models.cells());
  o.routing.threshold = middle_thresholds(models.built(o, models.cells(), {.moved = true}), 9);
  const AuditModel model = models.built(o, models.cells(), {.moved = true});
  for (const AuditedMode& mode : steered_modes(model, 9)) {
    if (mode.name != "student_threshold") continue;
    EXPECT_TRUE(decides(mode));
    const SuffixEffect effect =
        change_suffixes(model, 9, mode.context, {.cuts = all_cuts(9)}, false);
    EXPECT_GT(effect.least, 0.1);
    EXPECT_LT(effect.most, 0.9);
  }
}

TEST(AuditedPass, StepsAreOddAndEvenSmallAndLast) {
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < 10; ++i) steps.push_back(audited_step(i));

  EXPECT_NE(std::ranges::find(steps, 1), steps.end());
  EXPECT_NE(std::ranges::find(steps, 2147483647), steps.end());
  EXPECT_NE(steps[0] % 2, steps[1] % 2);
  EXPECT_EQ(audited_step(10), steps[0]);
}

}  // namespace audit_twin_test
}  // namespace depthgrid::testing
