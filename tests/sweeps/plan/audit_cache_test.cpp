#include "sweeps/plan/audit_cache.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace audit_cache_test {

namespace fs = std::filesystem;

class AuditCacheTest : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(worker()) << "one build"; }

  fs::path worker() const { return folder_.path() / "worker"; }
  AuditCache cache() const { return {worker(), folder_.path() / "audit"}; }

  static StructureAudit example() {
    StructureAudit a;
    a.structure = "s";
    a.family = "standard";
    a.checks = {{"causality", AuditVerdict::Pass, 0, 0, ""},
                {"fusion", AuditVerdict::Skipped, 0, 0, "too large"},
                {"entropy_floor", AuditVerdict::Off, 0, 0, ""}};
    return a;
  }
  static CellConfig config(ValueMap leaves) { return make_config(leaves); }

 private:
  TemporaryFolder folder_;
};

TEST_F(AuditCacheTest, KeepsWhatLasts) {
  cache().keep(config({}), example());

  const auto kept = cache().find(config({}));

  ASSERT_TRUE(kept.has_value());
  ASSERT_EQ(kept->checks.size(), 1U);
  EXPECT_EQ(kept->checks[0].name, "causality");
}

TEST_F(AuditCacheTest, AnotherSeedRateOrLengthOfTrainingIsTheSameModel) {
  cache().keep(config({}), example());

  EXPECT_TRUE(cache().find(config({{"model.seed", std::int64_t{3}}})));
  EXPECT_TRUE(cache().find(config({{"train.steps", std::int64_t{7}}})));
  EXPECT_TRUE(cache().find(config({{"train.lr", 0.5}})));
}

TEST_F(AuditCacheTest, AnotherModelWindowOrBuildIsNot) {
  cache().keep(config({}), example());

  EXPECT_FALSE(cache().find(config({{"model.n_layers", std::int64_t{3}}})));
  EXPECT_FALSE(cache().find(config({{"data.seq_len", std::int64_t{64}}})));
  EXPECT_FALSE(cache().find(config({{"model.residual.scale", 0.5}})));
  std::ofstream(worker()) << "another build";
  EXPECT_FALSE(cache().find(config({})));
}

TEST_F(AuditCacheTest, WithoutAFolderNothingIsKept) {
  const AuditCache none(worker(), {});

  none.keep(config({}), example());

  EXPECT_FALSE(none.find(config({})));
}

}  // namespace audit_cache_test
}  // namespace depthgrid
