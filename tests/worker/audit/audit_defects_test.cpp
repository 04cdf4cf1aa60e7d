#include <algorithm>

#include <gtest/gtest.h>

#include <ATen/Parallel.h>

#include "models/cell_language_model.hpp"
#include "tests/support/broken_family.hpp"
#include "tests/support/model_cases.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_service.hpp"

namespace depthgrid::testing {
namespace audit_defects_test {

ModelOptions options(std::int64_t cells) {
  ModelOptions o = small_options("standard", cells);
  o.sublayers = Sublayers::Parallel;
  o.max_tokens = 12;
  o.init.std.assign(o.init.std.size(), 0.1);
  o.init.embedding_std.assign(o.init.std.size(), 0.1);
  return o;
}

AuditSubject subject(Defect defect) {
  at::set_num_threads(1);  // these models gain nothing from more
  AuditSubject s;
  s.options = options;
  s.tokens = 12;
  s.family = broken_family(defect);
  return s;
}

std::vector<AuditResult> all(const AuditSubject& s) {
  return audit_structure(s, {}, {}).value().checks;
}

/// Names of the checks that fail, in the order of the table.
std::vector<std::string> failures(const AuditSubject& s) {
  std::vector<std::string> out;
  for (const AuditResult& c : all(s)) {
    if (c.verdict == AuditVerdict::Fail) out.push_back(c.name);
  }
  return out;
}

AuditResult one(const AuditSubject& s, std::string_view check) {
  AuditRoom room(s);
  return std::ranges::find(audit_checks(), check, &AuditCheckRow::name)->run(room);
}

using Names = std::vector<std::string>;

TEST(AuditDefects, TheSoundFamilyPassesEveryCheck) {
  for (const AuditResult& c : all(subject(Defect::None))) {
    EXPECT_EQ(c.verdict, AuditVerdict::Pass) << c.name << ": " << c.value << ", " << c.note;
  }
}

TEST(AuditDefects, AMaskThatIsRemovedFailsCausalityAndTheEntropyFloor) {
  EXPECT_EQ(failures(subject(Defect::MaskRemoved)), (Names{"causality", "entropy_floor"}));
}

TEST(AuditDefects, AMaskThatIsOffByOneFailsCausalityAndTheEntropyFloor) {
  EXPECT_EQ(failures(subject(Defect::MaskOffByOne)), (Names{"causality", "entropy_floor"}));
}

TEST(AuditDefects, AGateThatPoolsOverTheSequenceFailsCausality) {
  EXPECT_EQ(one(subject(Defect::PooledGate), "causality").verdict, AuditVerdict::Fail);
}

TEST(AuditDefects, RoutingOverTheBatchFailsBatchIndependence) {
  const AuditResult result = one(subject(Defect::BatchRouting), "batch_independence");

  EXPECT_EQ(result.verdict, AuditVerdict::Fail);
  EXPECT_GT(result.value, 1e-3);
}

TEST(AuditDefects, TopkThatIsDeclaredAndSortedIsTheWholeLeak) {
  const AuditSubject s = subject(Defect::SortedTopk);

  EXPECT_EQ(one(s, "causality").verdict, AuditVerdict::Pass);
  const AuditResult declaration = one(s, "declaration");
  EXPECT_EQ(declaration.verdict, AuditVerdict::Pass) << declaration.note;
  EXPECT_NE(declaration.note.find("the k best tokens"), std::string::npos);
}

TEST(AuditDefects, TopkWithoutDeclarationFailsCausality) {
  const AuditResult result = one(subject(Defect::UndeclaredTopk), "causality");

  EXPECT_EQ(result.verdict, AuditVerdict::Fail);
  EXPECT_TRUE(result.note.starts_with("training")) << result.note;
}

TEST(AuditDefects, TopkThatIsNotSortedLeaksMoreThanItDeclares) {
  const AuditSubject s = subject(Defect::UnsortedTopk);

  EXPECT_EQ(one(s, "causality").verdict, AuditVerdict::Pass);  // it has declared to look ahead
  EXPECT_EQ(one(s, "declaration").verdict, AuditVerdict::Fail);
}

TEST(AuditDefects, EvaluationMayNotLookAheadEvenIfDeclared) {
  EXPECT_EQ(one(subject(Defect::LooksAheadAlways), "declaration").verdict, AuditVerdict::Fail);
}

TEST(AuditDefects, ANormOverAllTokensFailsCausality) {
  EXPECT_EQ(one(subject(Defect::CrossTokenNorm), "causality").verdict, AuditVerdict::Fail);
}

TEST(AuditDefects, AParameterThatIsCountedTwiceFailsTheCount) {
  const AuditResult result = one(subject(Defect::CountedTwice), "parameter_count");

  EXPECT_EQ(result.verdict, AuditVerdict::Fail);
  EXPECT_EQ(result.value - result.threshold, 20);
}

TEST(AuditDefects, ATiedTableThatIsCountedTwiceFailsTheCount) {
  AuditSubject s = subject(Defect::None);
  s.options = [](std::int64_t cells) {
    ModelOptions o = options(cells);
    o.tie_embeddings = true;
    return o;
  };
  s.family = [](ParameterSource& source, const ModelOptions& o) {
    source.parameter({.name = "head.weight", .shape = {o.vocabulary, o.width}});
    return broken_family(Defect::None)(source, o);
  };

  EXPECT_EQ(failures(s), (Names{"parameter_count", "gradient_flow"}));
  const AuditResult result = one(s, "parameter_count");
  EXPECT_EQ(result.value - result.threshold, 17 * 20);
}

TEST(AuditDefects, ADeadParameterIsNamed) {
  const AuditResult result = one(subject(Defect::DeadParameter), "gradient_flow");

  EXPECT_EQ(result.verdict, AuditVerdict::Fail);
  EXPECT_EQ(result.value, 1);
  EXPECT_NE(result.note.find("extra.bias"), std::string::npos);
}

TEST(AuditDefects, ADeadParameterThatIsDeclaredIsListedWithItsReason) {
  const AuditResult result = one(subject(Defect::DeclaredDead), "gradient_flow");

  EXPECT_EQ(result.verdict, AuditVerdict::Pass);
  EXPECT_NE(result.note.find("extra.bias (kept for old files)"), std::string::npos);
}

TEST(AuditDefects, NaNAtTheStartFailsTheFirstLossAndTheGradients) {
  const Names failed = failures(subject(Defect::NanAtStart));

  for (const char* check : {"initial_loss", "gradient_flow", "overfit_batch"}) {
    EXPECT_NE(std::ranges::find(failed, check), failed.end()) << check;
  }
}

/// Every cell's loss is the mean of all cells'.
class SharedLoss final : public LanguageModel {
 public:
  SharedLoss(const Model& model, std::vector<std::uint64_t> seeds)
      : inner_(model, std::move(seeds)) {}
  Losses losses(const Batch& batch) override {
    const at::Tensor loss = inner_.losses(batch).total;
    const at::Tensor shared = loss.mean(0, true).expand_as(loss);
    return {shared, shared, {}};
  }
  Scores score(const Batch& batch) override { return inner_.score(batch); }

 private:
  CellLanguageModel inner_;
};

TEST(AuditDefects, ALossThatAveragesOverCellsFailsFusion) {
  AuditSubject s = subject(Defect::None);
  s.language = [](const Model& model, std::vector<std::uint64_t> seeds) {
    return std::make_unique<SharedLoss>(model, std::move(seeds));
  };

  EXPECT_EQ(failures(s), Names{"fusion"});
}

TEST(AuditDefects, WhatDoesNotFitInMemoryIsSkippedWithANote) {
  AuditSubject s = subject(Defect::MaskRemoved);
  s.memory_bytes = 1000;

  for (const char* check : {"causality", "declaration", "batch_independence"}) {
    const AuditResult result = one(s, check);
    EXPECT_EQ(result.verdict, AuditVerdict::Skipped) << check;
    EXPECT_NE(result.note.find("half of the memory"), std::string::npos);
  }
}

TEST(AuditDefects, AModelThatIgnoresItsTokensIsUndecided) {
  AuditSubject s = subject(Defect::None);
  s.options = [](std::int64_t cells) {
    ModelOptions o = options(cells);
    o.init.embedding_std.assign(o.init.std.size(), 0);
    return o;
  };

  EXPECT_EQ(one(s, "causality").verdict, AuditVerdict::Undecided);
}

}  // namespace audit_defects_test
}  // namespace depthgrid::testing
