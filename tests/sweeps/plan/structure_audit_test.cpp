#include "sweeps/plan/structure_audit.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "storage/columns/dimensions.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace structure_audit_test {

namespace fs = std::filesystem;

StructureAudit example() {
  StructureAudit a;
  a.structure = "0123456789abcdef";
  a.family = "time_indexed";
  a.preset = "published/time_indexed_mlp";
  a.changed = {{"model.n_layers", "6", "2"}, {"model.norm", R"("none")", R"("pre")"}};
  a.parameters = 715840;
  a.trainable = 700000;
  a.effective = 3096000;
  a.closed_form = 715840;
  a.flops_per_token = 1.5e6;
  a.modules = {{"embedding", 65536}, {"block.attn", 262144}};
  a.modes = {{"training", false, "the k best"}, {"evaluation", true, ""}};
  a.dead = {{"router.bias", "it only shifts"}};
  a.checks = {{"causality", AuditVerdict::Fail, 0.25, 0, "training: leaks"},
              {"overfit_batch", AuditVerdict::Fail, 0.3, 0.1, "too high"},
              {"entropy_floor", AuditVerdict::Undecided, kNaN, 2.37, "has not learned"}};
  a.seconds = 1.5;
  return a;
}

TEST(StructureAudit, JsonHoldsEverything) {
  const StructureAudit a = example();

  const std::vector<StructureAudit> back = parse_audits(audits_json({a}));

  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(audits_json(back), audits_json({a}));
  EXPECT_EQ(back[0].closed_form, a.closed_form);
  EXPECT_EQ(back[0].find("causality")->verdict, AuditVerdict::Fail);
  EXPECT_TRUE(std::isnan(back[0].find("entropy_floor")->value));
  EXPECT_EQ(back[0].find("fusion"), nullptr);
}

TEST(StructureAudit, ASingleStructureStandsAtTheTopToo) {
  const auto one = parse_json(audits_json({example()}));
  const auto two = parse_json(audits_json({example(), example()}));

  EXPECT_EQ(one["schema"], 1);
  EXPECT_EQ(one["checks"], one["structures"][0]["checks"]);
  EXPECT_EQ(one["parameters"]["stored"], 715840);
  EXPECT_FALSE(two.contains("checks"));
  EXPECT_EQ(two["structures"].size(), 2U);
}

TEST(StructureAudit, WhatIsNoAnswerIsRefused) {
  EXPECT_THROW(parse_audits("{}"), Error);
  EXPECT_THROW(parse_audits("{\"schema\": 2, \"structures\": []}"), Error);
  EXPECT_THROW(parse_audits("no"), Error);
}

TEST(StructureAudit, OnlyRequiredChecksBlock) {
  const StructureAudit a = example();
  const AuditLevels defaults = audit_levels(CellConfig());

  const auto stops = blocking(a, defaults);

  ASSERT_EQ(stops.size(), 1U);
  EXPECT_EQ(stops[0]->name, "causality");
  EXPECT_TRUE(
      blocking(a, {{"causality", AuditLevel::Warn}, {"overfit_batch", AuditLevel::Off}}).empty());
  EXPECT_EQ(blocking(a, {}).size(), 2U);
}

TEST(StructureAudit, EveryCheckHasALeaf) {
  const AuditLevels levels = audit_levels(CellConfig());

  ASSERT_EQ(levels.size(), kAuditCheckNames.size());
  EXPECT_EQ(levels.at("causality"), AuditLevel::Required);
  EXPECT_EQ(levels.at("gradient_flow"), AuditLevel::Required);
}

TEST(StructureAudit, TextNamesVerdictsModesAndDeviations) {
  const std::string text = audit_text(example(), audit_levels(CellConfig()));

  for (const char* part :
       {"715,840 stored (closed form 715,840)", "training looks ahead (the k best)",
        "not the preset's: model.n_layers is 2, the preset has 6",
        "dead: router.bias (it only shifts)", "deviation, attention: published: its mask", "FAIL",
        "fail (warning)", "undecided"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

class AuditCacheTest : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(worker()) << "one build"; }

  fs::path worker() const { return folder_.path() / "worker"; }
  AnswerCache cache() const { return {worker(), folder_.path() / "audit"}; }

  static StructureAudit kept_example() {
    StructureAudit a;
    a.structure = "s";
    a.family = "standard";
    a.checks = {{"causality", AuditVerdict::Pass, 0, 0, ""},
                {"fusion", AuditVerdict::Skipped, 0, 0, "too large"},
                {"entropy_floor", AuditVerdict::Off, 0, 0, ""}};
    return a;
  }
  static CellConfig config(ValueMap leaves) { return make_config(leaves); }
  static void keep(const AnswerCache& cache, const CellConfig& cell) {
    cache_audit(cache, {&cell}, kept_example());
  }
  static std::optional<StructureAudit> kept(const AnswerCache& cache, const CellConfig& cell) {
    return cached_audit(cache, {&cell});
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(AuditCacheTest, KeepsWhatLasts) {
  keep(cache(), config({}));

  const auto audit = kept(cache(), config({}));

  ASSERT_TRUE(audit.has_value());
  ASSERT_EQ(audit->checks.size(), 1U);
  EXPECT_EQ(audit->checks[0].name, "causality");
}

TEST_F(AuditCacheTest, AnotherSeedRateOrLengthOfTrainingIsTheSameModel) {
  keep(cache(), config({}));

  EXPECT_TRUE(kept(cache(), config({{"model.seed", std::int64_t{3}}})));
  EXPECT_TRUE(kept(cache(), config({{"train.steps", std::int64_t{7}}})));
  EXPECT_TRUE(kept(cache(), config({{"train.lr", 0.5}})));
}

TEST_F(AuditCacheTest, AnotherModelWindowOrBuildIsNot) {
  keep(cache(), config({}));

  EXPECT_FALSE(kept(cache(), config({{"model.n_layers", std::int64_t{3}}})));
  EXPECT_FALSE(kept(cache(), config({{"data.seq_len", std::int64_t{64}}})));
  EXPECT_FALSE(kept(cache(), config({{"model.residual.scale", 0.5}})));
  EXPECT_FALSE(kept(cache(), config({{"train.precision", "bf16"}})));
  EXPECT_FALSE(kept(cache(), config({{"train.optimizer", "adamw"}})));
  std::ofstream(worker()) << "another build";
  EXPECT_FALSE(kept(cache(), config({})));
}

TEST_F(AuditCacheTest, WithoutAFolderNothingIsKept) {
  const AnswerCache none(worker(), {});

  keep(none, config({}));

  EXPECT_FALSE(kept(none, config({})));
}

}  // namespace structure_audit_test
}  // namespace depthgrid
