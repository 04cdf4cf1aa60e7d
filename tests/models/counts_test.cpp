#include <gtest/gtest.h>

#include "models/model.hpp"
#include "tests/support/model_cases.hpp"

namespace depthgrid::testing {
namespace {

std::int64_t count(const ModelOptions& o) {
  ParameterLayout layout;
  Model(layout, o);
  return layout.size();
}

ModelOptions study_size(const std::string& family) {
  ModelOptions o = small_options(family);
  o.width = 256;
  o.heads = 4;
  o.layers = 6;
  o.hidden = 1024;
  o.vocabulary = 256;
  o.max_tokens = 128;
  o.temporal_hidden = 64;
  o.time.frequencies = 32;
  o.modulation.hidden = 64;
  return o;
}

TEST(ParameterCounts, PlainGptOfTheStudyHas4902912) {
  const std::int64_t d = 256, layers = 6, v = 256, t = 128;

  EXPECT_EQ(count(study_size("standard")),
            layers * (12 * d * d + 13 * d) + 2 * d + 2 * v * d + t * d);
  EXPECT_EQ(count(study_size("standard")), 4902912);
}

TEST(ParameterCounts, PublishedTimeIndexedMlpHas715840) {
  ModelOptions o = study_size("time_indexed");
  for (const ModelCase& c : model_cases()) {
    if (c.name == "time_indexed_published") c.change(o);
  }
  o.hidden = 256;

  EXPECT_EQ(count(o), 715840);
}

TEST(ParameterCounts, TiedHeadOfGpt2SmallGives124439808) {
  ModelOptions o = study_size("standard");
  o.width = 768;
  o.heads = 12;
  o.layers = 12;
  o.hidden = 3072;
  o.vocabulary = 50257;
  o.max_tokens = 1024;
  o.tie_embeddings = true;

  EXPECT_EQ(count(o), 124439808);
}

TEST(ParameterCounts, ModulationCountsByTheText) {
  const ModelOptions gated = study_size("time_indexed");
  ModelOptions plain = gated;
  plain.modulation.gate = GateKind::Constant;
  const std::int64_t hidden = 64, features = 65, rows = 256 * 4 + 1024 + 256;

  EXPECT_EQ(count(gated) - count(plain), 6 * (hidden * features + hidden) + rows * hidden + rows);
}

}  // namespace
}  // namespace depthgrid::testing
