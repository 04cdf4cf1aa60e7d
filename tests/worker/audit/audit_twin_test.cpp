#include "worker/audit/audit_twin.hpp"

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "tests/support/model_cases.hpp"
#include "worker/audit/audit_room.hpp"
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

TEST(SuffixProbe, CutPointsReachFromTheSecondTokenToTheLast) {
  EXPECT_EQ(cut_points(2), std::vector<std::int64_t>{1});
  EXPECT_EQ(cut_points(4), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(cut_points(9), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  const std::vector<std::int64_t> many = cut_points(128);
  ASSERT_EQ(many.size(), 8U);
  EXPECT_EQ(many.front(), 1);
  EXPECT_EQ(many.back(), 127);
}

}  // namespace audit_twin_test
}  // namespace depthgrid::testing
