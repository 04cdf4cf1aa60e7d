#include <algorithm>
#include <cmath>
#include <ostream>

#include <gtest/gtest.h>

#include <ATen/Parallel.h>

#include "models/cell_language_model.hpp"
#include "tests/support/broken_family.hpp"
#include "tests/support/model_cases.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_service.hpp"

namespace depthgrid::testing {
namespace audit_defects_test {

ModelOptions options(const std::vector<std::size_t>& cells) {
  ModelOptions o = small_options("standard", static_cast<std::int64_t>(cells.size()));
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
  AuditModels models(s);
  return std::ranges::find(audit_checks(), check, &AuditCheckRow::name)->run(models);
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
  s.options = [](const std::vector<std::size_t>& cells) {
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

  EXPECT_EQ(failures(s), (Names{"fusion", "scores", "training_step"}));
}

TEST(AuditDefects, WhatDoesNotFitInMemoryIsSkippedIfItsTwinPasses) {
  AuditSubject s = subject(Defect::None);
  s.memory_bytes = 1000;

  for (const char* check : {"causality", "batch_independence"}) {
    const AuditResult result = one(s, check);
    EXPECT_EQ(result.verdict, AuditVerdict::Skipped) << check;
    EXPECT_NE(result.note.find("half of the memory"), std::string::npos);
  }
  s.family = broken_family(Defect::MaskRemoved);
  EXPECT_EQ(one(s, "causality").verdict, AuditVerdict::Fail);
}

TEST(AuditDefects, AModelThatIgnoresItsTokensIsUndecided) {
  EXPECT_EQ(one(subject(Defect::Deaf), "causality").verdict, AuditVerdict::Undecided);
}

/// A defect of a family, the check that must fail, and what its note says.
struct Plant {
  const char* name;
  Defect defect;
  const char* check;
  const char* says;
  std::int64_t layers = 3;
};

std::ostream& operator<<(std::ostream& out, const Plant& plant) {
  return out << plant.name;
}

class PlantedDefect : public ::testing::TestWithParam<Plant> {};

TEST_P(PlantedDefect, FailsItsCheck) {
  AuditSubject s = subject(GetParam().defect);
  s.options = [](const std::vector<std::size_t>& cells) {
    ModelOptions o = options(cells);
    o.layers = GetParam().layers;
    if (GetParam().defect == Defect::DenseStart) o.tdt.dense_steps.assign(cells.size(), 500);
    return o;
  };
  s.mixed = GetParam().defect == Defect::MixedOnly;

  const AuditResult result = one(s, GetParam().check);

  EXPECT_EQ(result.verdict, AuditVerdict::Fail) << result.note;
  EXPECT_NE(result.note.find(GetParam().says), std::string::npos) << result.note;
}

constexpr Plant kPlants[] = {
    {"one_position", Defect::OnePosition, "causality", "from 10 on"},
    {"every_eighth", Defect::EveryEighth, "causality", "from 8 on"},
    {"faint_scale", Defect::FaintScale, "causality", "in float64"},
    {"recorded_only", Defect::RecordedOnly, "causality", "training"},
    {"gradient_only", Defect::GradientOnly, "causality", "gradient of earlier logits"},
    {"second_cell", Defect::SecondCell, "causality", "in cell 1"},
    {"cells_mix", Defect::CellsMix, "fusion", "beside it"},
    {"many_rows", Defect::ManyRows, "batch_independence", "beside it"},
    {"late_step", Defect::LateStep, "causality", "training"},
    {"mixed_only", Defect::MixedOnly, "causality", "a logit"},
    {"router_mean", Defect::RouterMean, "declaration", "the router's logit of layer 0"},
    {"router_next", Defect::RouterNext, "declaration", "the score of layer 0"},
    {"frozen_norm", Defect::FrozenNorm, "gradient_flow", "layers.4.norm1.scale", 6},
    {"half_frozen", Defect::HalfFrozenMatrix, "training_step", "mlp.up.weight"},
    {"ignored_scale", Defect::IgnoredScale, "leaves", "model.residual.scale"},
    {"ignored_late_scale", Defect::IgnoredLateScale, "leaves", "model.residual.scale"},
    {"reversed_positions", Defect::Reversed, "positions", "position"},
    {"wide_gradient_only", Defect::WideGradientOnly, "causality", "gradient"},
    {"even_step", Defect::EvenStep, "causality", "training"},
    {"late_rows_first", Defect::LateRowsFirst, "causality", "from 1 on"},
    {"pooled_once_learned", Defect::PooledOnceLearned, "causality", "evaluation"},
    {"rows_of_one_kind", Defect::RowsOfOneKind, "batch_independence", "sequence"},
    {"many_cells", Defect::ManyCells, "fusion", "cell"},
    {"late_frozen_norm", Defect::LateFrozenNorm, "gradient_flow", "norm1.scale"},
    {"wide_half_frozen", Defect::WideHalfFrozen, "training_step", "mlp.up.weight"},
    {"dense_start", Defect::DenseStart, "causality", "dense start"},
    {"reversed_in_use", Defect::ReversedInUse, "positions", "position"},
};
INSTANTIATE_TEST_SUITE_P(Table, PlantedDefect, ::testing::ValuesIn(kPlants),
                         [](const auto& p) { return p.param.name; });

/// What a LanguageModel may do wrong.
enum class Slip {
  LabelInBoth,   // the target's logit is .01 higher, in loss and score
  LabelInScore,  // .1 higher, in the score only
  HalfTwice,     // the second half of a window counts twice in the score
  FirstHalf,     // only the first half of a window trains
  SmallPart,     // micro-batches train at a third of their weight
  LastPart,      // the last micro-batch does not train
  EarlyLabel,    // LabelInBoth, in the loss of the first steps
  ManyLabels     // LabelInScore, in batches of more than eight
};

/// CellLanguageModel with a slip.
class SlippingModel final : public LanguageModel {
 public:
  SlippingModel(const Model& model, std::vector<std::uint64_t> seeds, Slip slip)
      : inner_(model, std::move(seeds)), slip_(slip) {}

  Losses losses(const Batch& batch) override {
    constexpr std::int64_t kWhole = 5;  // rows of the audited step
    Losses out = inner_.losses(batch);
    const std::int64_t rows = batch.windows.size(1);
    const bool early = slip_ == Slip::EarlyLabel && batch.step < 1000;
    if (slip_ == Slip::LabelInBoth || early) out.loss = out.total = out.total * 0.997;
    if (slip_ == Slip::SmallPart && rows < kWhole) out.total = out.total / 3;
    if (slip_ == Slip::LastPart && rows < kWhole && batch.first_row + rows == kWhole) {
      out.total = out.total * 0;
    }
    if (slip_ == Slip::FirstHalf) {
      Batch half = batch;
      half.windows = batch.windows.narrow(2, 0, batch.windows.size(2) / 2);
      out = inner_.losses(half);
    }
    return out;
  }

  Scores score(const Batch& batch) override {
    Scores out = inner_.score(batch);
    const at::Tensor p = out.loss.neg().exp();
    const auto leaked = [&](double w) { return out.loss - w + (1 + p * std::expm1(w)).log(); };
    if (slip_ == Slip::LabelInBoth) out.loss = leaked(0.01);
    const bool many = slip_ == Slip::ManyLabels && batch.windows.size(1) > 8;
    if (slip_ == Slip::LabelInScore || many) out.loss = leaked(0.1);
    if (slip_ == Slip::HalfTwice) {
      const std::int64_t half = out.loss.size(2) / 2;
      out.loss.narrow(2, half, out.loss.size(2) - half).mul_(2);
    }
    return out;
  }

 private:
  CellLanguageModel inner_;
  Slip slip_;
};

struct SlipCase {
  const char* name;
  Slip slip;
  const char* check;
};

std::ostream& operator<<(std::ostream& out, const SlipCase& one) {
  return out << one.name;
}

class PlantedSlip : public ::testing::TestWithParam<SlipCase> {};

TEST_P(PlantedSlip, FailsItsCheck) {
  AuditSubject s = subject(Defect::None);
  const Slip slip = GetParam().slip;
  s.language = [slip](const Model& model, std::vector<std::uint64_t> seeds) {
    return std::make_unique<SlippingModel>(model, std::move(seeds), slip);
  };

  const AuditResult result = one(s, GetParam().check);

  EXPECT_EQ(result.verdict, AuditVerdict::Fail) << result.note;
}

constexpr SlipCase kSlips[] = {
    {"label_in_loss_and_score", Slip::LabelInBoth, "scores"},
    {"label_in_score", Slip::LabelInScore, "scores"},
    {"second_half_twice", Slip::HalfTwice, "scores"},
    {"first_half_only", Slip::FirstHalf, "scores"},
    {"small_parts", Slip::SmallPart, "training_step"},
    {"last_part_left_out", Slip::LastPart, "training_step"},
    {"label_in_early_loss", Slip::EarlyLabel, "scores"},
    {"label_in_score_of_many", Slip::ManyLabels, "scores"},
};
INSTANTIATE_TEST_SUITE_P(Table, PlantedSlip, ::testing::ValuesIn(kSlips),
                         [](const auto& p) { return p.param.name; });

TEST(AuditDefects, AnOptimiserThatLeavesTheNormsFailsTheStep) {
  AuditSubject s = subject(Defect::None);
  s.step = [](Trainer& trainer, Arena& arena, std::int64_t step) {
    const at::Tensor before = arena.values().clone();
    StepReport report = trainer.step(step);
    for (const ParameterSlot& slot : arena.layout().slots()) {
      if (slot.spec.group != ParameterGroup::Norm) continue;
      slot_view(arena.values(), slot).copy_(slot_view(before, slot));
    }
    return report;
  };

  const AuditResult result = one(s, "training_step");

  EXPECT_EQ(result.verdict, AuditVerdict::Fail);
  EXPECT_NE(result.note.find("norm"), std::string::npos) << result.note;
}

// A rate that is right at first: schedules, bias corrections and clips act later too.
TEST(AuditDefects, AnOptimiserThatStopsLateFailsTheStep) {
  AuditSubject s = subject(Defect::None);
  s.step = [](Trainer& trainer, Arena& arena, std::int64_t step) {
    const at::Tensor before = arena.values().clone();
    StepReport report = trainer.step(step);
    if (step > 400) arena.values().copy_(before);
    return report;
  };

  EXPECT_EQ(one(s, "training_step").verdict, AuditVerdict::Fail);
}

// It may be meant: the scheme, the width and tying say what it costs.
TEST(AuditDefects, AStartFarFromUniformIsAWarning) {
  AuditSubject s = subject(Defect::None);
  s.options = [](const std::vector<std::size_t>& cells) {
    ModelOptions o = options(cells);
    o.tie_embeddings = true;
    o.init.embedding_std.assign(o.init.std.size(), 1);  // logits of variance 20: ten nats
    return o;
  };

  const AuditResult result = one(s, "initial_loss");

  EXPECT_EQ(result.verdict, AuditVerdict::Undecided);
  EXPECT_GT(result.value, 5) << result.note;
}

}  // namespace audit_defects_test
}  // namespace depthgrid::testing
