#include "sweeps/report/evaluation_basis.hpp"

#include <set>

#include <gtest/gtest.h>

#include "core/config/schema.hpp"
#include "tests/sweeps/report/evaluated_arms.hpp"

namespace depthgrid {
namespace evaluation_basis_test {

const Value kNull;

/// What is said against subtracting the metric of two arms; empty: nothing.
std::string said(const char* metric, const ValueMap& base, const ValueMap& arm) {
  const Listing listing = evaluated_arms({base, arm});
  return EvaluationBasis(listing, metric).mismatch(1, 0).text();
}

/// Two values of a leaf, the metrics that cannot be compared across them, and some that can.
struct LeafCase {
  const char* leaf;
  Value base, arm;
  std::vector<const char*> refused, compared;
  ValueMap also = {};
};

const std::vector<const char*> kAllFigures = {
    "final_loss.valid", "eval_loss.valid",       "best_loss.valid",  "eval_loss.train",
    "train_loss",       "final_perplexity.test", "eval_accuracy.dev"};
const std::vector<const char*> kNoFigures = {"cost_wall_time", "cost_flops_token", "train_tokens",
                                             "predicted_bytes", "train_grad_norm"};

std::vector<LeafCase> leaf_cases() {
  const ValueMap word = {{"data.tokenizer", "word"}};
  const ValueMap file = {{"data.corpus", "self"}};
  const ValueMap copy = {{"data.corpus", "synthetic:copy"}};
  const ValueMap markov = {{"data.corpus", "synthetic:markov"}};
  const ValueMap tdt = {{"model.family", "tdt"}};
  return {
      {"data.seq_len", 64, 128, kAllFigures, kNoFigures},
      {"data.corpus", "self", "wikitext-2", kAllFigures, kNoFigures},
      {"data.tokenizer", "byte", "char256", kAllFigures, kNoFigures},
      {"data.vocab_size", 64, 512, kAllFigures, kNoFigures, word},
      {"data.join", "as_is", "published_2", kAllFigures, kNoFigures},
      {"data.test_fraction", 0.1, 0.2, kAllFigures, kNoFigures, file},
      {"data.valid_fraction",
       0.02,
       0.1,
       {"final_loss.valid", "eval_loss.train", "train_loss"},
       {"final_loss.test"},
       file},
      {"data.dev_fraction",
       0.02,
       0.1,
       {"eval_loss.dev", "train_loss"},
       {"final_loss.valid", "final_loss.test"},
       file},
      {"data.split",
       "standard",
       "published",
       {"eval_loss.dev", "train_loss_last50"},
       {"final_loss.valid", "eval_loss.valid"}},
      {"data.train_tokens",
       1000,
       2000,
       {"train_loss", "eval_loss.train"},
       {"final_loss.valid", "eval_loss.dev"}},
      {"data.sampler", "iid", "epoch", {}, {"final_loss.valid", "eval_loss.valid"}},
      {"data.synthetic.order", 1, 2, kAllFigures, kNoFigures, markov},
      {"data.synthetic.vocab_size", 32, 64, kAllFigures, kNoFigures, markov},
      {"data.synthetic.tokens", 50000, 60000, kAllFigures, kNoFigures, markov},
      {"data.synthetic.concentration", 0.1, 0.2, kAllFigures, kNoFigures, markov},
      {"data.synthetic.lag", 16, 32, kAllFigures, kNoFigures, copy},
      {"eval.windows",
       16,
       64,
       {"eval_loss.valid", "best_loss.valid"},
       {"final_loss.valid", "train_loss", "final_loss_mode.dense", "eval_loss_mode.dense"},
       tdt},
      {"eval.windows", 2, 64, {"eval_loss_mode.dense"}, {"final_loss_mode.dense"}, tdt},
      {"eval.windows", kNull, 64, {"eval_loss.valid"}, {"final_loss.valid"}},
      {"eval.final_windows",
       16,
       kNull,
       {"final_loss.valid", "final_loss_mode.dense"},
       {"eval_loss.valid", "train_loss"},
       tdt},
      {"eval.mode_windows",
       2,
       4,
       {"eval_loss_mode.dense", "eval_mismatch_gap"},
       {"eval_loss.valid", "final_loss_mode.dense"},
       tdt},
      {"eval.stride",
       32,
       128,
       {"eval_loss.valid", "final_loss.valid", "best_loss.dev"},
       {"train_loss", "eval_loss_published"}},
      {"eval.every",
       10,
       20,
       {"best_loss.valid", "eval_loss_published"},
       {"eval_loss.valid", "final_loss.valid"}},
      {"eval.at_start",
       true,
       false,
       {"best_loss.valid", "eval_loss_published"},
       {"eval_loss.valid"}},
      {"eval.protocol", "standard", "published_1", {}, {"eval_loss.valid", "final_loss.valid"}},
      {"eval.batch_size", 2, 4, {}, {"eval_loss.valid", "final_loss.valid", "best_loss.valid"}},
  };
}

TEST(EvaluationBasis, NamesTheLeafThatMakesEvaluationsDifferAndBothValues) {
  for (const LeafCase& one : leaf_cases()) {
    ValueMap base = one.also, arm = one.also;
    base.emplace_back(one.leaf, one.base);
    arm.emplace_back(one.leaf, one.arm);
    sort_map(base);
    sort_map(arm);
    const std::string expected = std::string(one.leaf) + " is " + plain_text(one.arm) +
                                 ", in the baseline " + plain_text(one.base);
    const Listing listing = evaluated_arms({base, arm, arm});
    const auto against = [&listing](const char* metric, std::size_t theirs) {
      return EvaluationBasis(listing, metric).mismatch(1, theirs).text();
    };
    for (const char* metric : one.refused) {
      EXPECT_EQ(against(metric, 0).substr(0, expected.size()), expected) << metric;
      EXPECT_EQ(against(metric, 2), "") << metric << ", equal cells";
    }
    for (const char* metric : one.compared) {
      EXPECT_EQ(against(metric, 0), "") << metric << " by " << one.leaf;
    }
  }
}

TEST(EvaluationBasis, CountsEveryLeafOfDataAndEvaluationThatIsNotKnownToBeHarmless) {
  std::set<std::string_view> harmless;
  for (const Leaf& leaf : schema()) {
    const bool eval = leaf.path.starts_with("data.") || leaf.path.starts_with("eval.");
    if (eval && seen_by(leaf.path) == 0) harmless.insert(leaf.path);
  }
  const std::set<std::string_view> expected = {
      "data.path",  "data.valid",    "data.cache",        "data.sampler",  "data.first_step",
      "data.seed",  "eval.splits",   "eval.final_splits", "eval.protocol", "eval.by_position",
      "eval.modes", "eval.deciders", "eval.batch_size"};
  EXPECT_EQ(harmless, expected);
  EXPECT_NE(seen_by("data.corpus@sha256"), 0U);
  EXPECT_NE(seen_by("data.a_new_leaf"), 0U);
  EXPECT_NE(seen_by("eval.a_new_leaf"), 0U);
}

TEST(EvaluationBasis, AUsersTextIsTheDigestOfItsFiles) {
  Listing listing = evaluated_arms({{}, {{"train.lr", 0.5}}});
  listing.leaves = {{{{"data.corpus", "file"}, {"data.corpus@sha256", "aa"}},
                     {{"data.corpus", "file"}, {"data.corpus@sha256", "bb"}}},
                    {0, 1}};
  EXPECT_EQ(EvaluationBasis(listing, "final_loss.valid").mismatch(1, 0).text(),
            "data.corpus@sha256 is bb, in the baseline aa");
}

/// Two arms whose dev shares differ, with digests of the split that the metric is of.
Listing with_digests(double base, double arm, const char* split) {
  Listing out = evaluated_arms({{{"data.corpus", "self"}, {"data.test_fraction", 0.1}},
                                {{"data.corpus", "self"}, {"data.test_fraction", 0.2}}});
  out.cells[0].facts[std::string("split_digest.") + split] = base;
  out.cells[1].facts[std::string("split_digest.") + split] = arm;
  return out;
}

TEST(EvaluationBasis, OfTheSameTokensLeavesDoNotMatter) {
  const Listing same = with_digests(7, 7, "valid");
  EXPECT_FALSE(EvaluationBasis(same, "final_loss.valid").mismatch(1, 0));
  EXPECT_TRUE(EvaluationBasis(same, "final_loss.test").mismatch(1, 0)) << "of it nothing is told";
  const Listing other = with_digests(7, 8, "valid");
  EXPECT_EQ(EvaluationBasis(other, "final_loss.valid").mismatch(1, 0).text(),
            "data.test_fraction is 0.2, in the baseline 0.1");
}

TEST(EvaluationBasis, OtherTokensMatterThoughNoLeafDiffers) {
  Listing listing = evaluated_arms({{}, {{"train.lr", 0.5}}});
  listing.cells[0].facts["split_digest.valid"] = 0xabc;
  listing.cells[1].facts["split_digest.valid"] = 0xabd;
  EXPECT_EQ(EvaluationBasis(listing, "eval_loss.valid").mismatch(1, 0).text(),
            "the digest of valid's tokens is 000000000abd, in the baseline 000000000abc");
  listing.cells[1].facts.clear();  // a result of a release that kept no digest
  EXPECT_FALSE(EvaluationBasis(listing, "eval_loss.valid").mismatch(1, 0));
  listing.cells[0].metrics["eval_tokens.valid"] = 8192;
  listing.cells[1].metrics["eval_tokens.valid"] = 8000;
  EXPECT_EQ(EvaluationBasis(listing, "eval_loss.valid").mismatch(1, 0).text(),
            "eval_tokens.valid is 8000, in the baseline 8192");
}

TEST(EvaluationBasis, OfAVocabularyOfTheTrainingTextTheTokensOfEverySplitDependOnIt) {
  Listing listing = evaluated_arms(
      {{{"data.corpus", "self"}, {"data.tokenizer", "word"}},
       {{"data.corpus", "self"}, {"data.tokenizer", "word"}, {"data.dev_fraction", 0.4}}});
  EXPECT_EQ(EvaluationBasis(listing, "final_loss.valid").mismatch(1, 0).text(),
            "data.dev_fraction is 0.4, in the baseline 0.02");
  for (CellSummary& cell : listing.cells) cell.facts["split_digest.valid"] = 0xabc;
  EXPECT_FALSE(EvaluationBasis(listing, "final_loss.valid").mismatch(1, 0)) << "the same tokens";
}

TEST(EvaluationsNote, ACellThatDoesNotSayItsTokensHidesNoDifference) {
  Listing listing = evaluated_arms({{}, {{"train.lr", 0.5}}, {{"train.lr", 0.25}}});
  for (CellSummary& cell : listing.cells) cell.metrics = {{"final_loss.valid", 2.0}};
  listing.cells[1].facts["split_digest.valid"] = 0xabc;  // the first is of release 0.1
  listing.cells[2].facts["split_digest.valid"] = 0xabd;
  EXPECT_EQ(evaluations_note(listing, {0, 1, 2}, {"final_loss.valid"}),
            "cells are not of one evaluation, so do not compare their final_loss.valid: the digest "
            "of valid's tokens is 000000000abc or 000000000abd\n");
}

TEST(EvaluationBasis, MoreWindowsThanThereAreAreAllOfThem) {
  Listing listing = evaluated_arms({{}, {{"eval.final_windows", 100}}});
  for (CellSummary& cell : listing.cells) cell.metrics["final_tokens.valid"] = 40 * 128;
  EXPECT_FALSE(EvaluationBasis(listing, "final_loss.valid").mismatch(1, 0));
  for (CellSummary& cell : listing.cells) cell.metrics["final_tokens.valid"] = 100 * 128;
  EXPECT_FALSE(EvaluationBasis(listing, "final_loss.valid").mismatch(1, 0)) << "exactly as many";
  listing.cells[0].metrics["final_tokens.valid"] = 101 * 128;
  EXPECT_TRUE(EvaluationBasis(listing, "final_loss.valid").mismatch(1, 0));
  listing.cells[0].metrics.clear();
  EXPECT_TRUE(EvaluationBasis(listing, "final_loss.valid").mismatch(1, 0)) << "not known";
}

TEST(EvaluationBasis, ModesHaveTheirOwnNumberOfWindows) {
  Listing listing = evaluated_arms({{{"model.family", "tdt"}, {"eval.windows", 16}},
                                    {{"model.family", "tdt"}, {"eval.windows", 64}}});
  listing.cells[0].metrics["eval_tokens.valid"] = 16 * 128;
  listing.cells[1].metrics["eval_tokens.valid"] = 64 * 128;
  EXPECT_FALSE(EvaluationBasis(listing, "eval_loss_mode.dense").mismatch(1, 0)) << "four each";
  EXPECT_TRUE(EvaluationBasis(listing, "eval_loss.valid").mismatch(1, 0));
}

TEST(EvaluationsNote, NamesWhatCellsThatAreListedDifferIn) {
  Listing listing = evaluated_arms({{}, {}, {{"eval.windows", 16}, {"eval.final_windows", 16}}});
  for (CellSummary& cell : listing.cells) {
    cell.metrics = {{"eval_loss.valid", 2.0}, {"final_loss.valid", 2.0}, {"cost_wall_time", 9}};
  }
  const std::vector<std::string> names = {"alias", "final_loss.valid", "eval_loss.valid",
                                          "cost_wall_time"};
  EXPECT_EQ(evaluations_note(listing, {0, 1}, names), "");
  EXPECT_EQ(evaluations_note(listing, {0, 1, 2}, names),
            "cells are not of one evaluation, so do not compare their final_loss.valid: "
            "eval.final_windows is null or 16\n"
            "cells are not of one evaluation, so do not compare their eval_loss.valid: "
            "eval.windows is 64 or 16\n");
  listing.cells[2].metrics.clear();
  EXPECT_EQ(evaluations_note(listing, {0, 1, 2}, names), "") << "it has no figure";
}

TEST(MixedMetrics, HaveEachDifferenceOnceWithAllItsMetrics) {
  Listing listing = evaluated_arms({{}, {}, {{"eval.final_windows", 16}}});
  for (CellSummary& cell : listing.cells) {
    cell.metrics = {{"eval_loss.valid", 2.0},
                    {"final_loss.valid", 2.0},
                    {"final_perplexity.valid", 7.0},
                    {"cost_wall_time", 9}};
  }
  const auto found = mixed_metrics(
      listing, {0, 1, 2},
      {"id", "cost_wall_time", "eval_loss.valid", "final_loss.valid", "final_perplexity.valid"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].metrics,
            (std::vector<std::string>{"final_loss.valid", "final_perplexity.valid"}));
  EXPECT_EQ(found[0].difference.name, "eval.final_windows");
  EXPECT_TRUE(mixed_metrics(listing, {0, 1}, {"final_loss.valid"}).empty());
}

TEST(EvaluationBasis, ATrainingLossThatLooksAheadIsNotComparedWithACausalOne) {
  Listing listing = evaluated_arms({{}, {{"train.lr", 0.5}}});
  listing.cells[1].facts["eval_mode_noncausal.teacher_topk"] = 1;
  EXPECT_EQ(
      EvaluationBasis(listing, "train_loss_last50").mismatch(1, 0).text(),
      "the training pass is of tokens chosen over the whole sequence, in the baseline causal");
  EXPECT_FALSE(EvaluationBasis(listing, "final_loss.valid").mismatch(1, 0));
  listing.cells[0].facts["eval_mode_noncausal.teacher_topk"] = 1;
  EXPECT_FALSE(EvaluationBasis(listing, "train_loss").mismatch(1, 0));
}

TEST(EvaluationBasis, AModeThatSeesTheFutureIsNotComparedWithOneThatDoesNot) {
  Listing listing = evaluated_arms({{}, {{"train.lr", 0.5}}});
  listing.cells[0].facts["eval_mode_noncausal.topk"] = 0;
  listing.cells[1].facts["eval_mode_noncausal.topk"] = 1;
  EXPECT_EQ(EvaluationBasis(listing, "final_loss_mode.topk").mismatch(1, 0).text(),
            "eval_mode_noncausal.topk is 1, in the baseline 0");
  EXPECT_FALSE(EvaluationBasis(listing, "final_loss_mode.dense").mismatch(1, 0));
}

TEST(EvaluationBasis, AcrossTokenisersBitsPerByteOfTheWholeSplitAreCompared) {
  Listing listing = evaluated_arms({{{"data.tokenizer", "byte"}}, {{"data.tokenizer", "gpt2"}}});
  const auto of = [&listing](const char* metric) {
    return EvaluationBasis(listing, metric).mismatch(1, 0);
  };
  EXPECT_FALSE(of("final_bits_per_byte.valid")) << "on the whole split, by default";
  EXPECT_EQ(of("final_loss.valid").advice.find("final_bits_per_byte"), std::string::npos);
  EXPECT_NE(of("train_loss").advice.find("not both of these cells have them"), std::string::npos);
  for (CellSummary& cell : listing.cells) cell.metrics["final_bits_per_byte.valid"] = 2;
  EXPECT_EQ(of("final_loss.valid").text(), "data.tokenizer is gpt2, in the baseline byte");
  EXPECT_NE(of("final_loss.valid").advice.find("compare final_bits_per_byte.valid"),
            std::string::npos);
  EXPECT_TRUE(of("eval_bits_per_byte.valid")) << "64 windows of each";
  EXPECT_NE(of("eval_bits_per_byte.valid").advice.find("eval.windows: null"), std::string::npos);
  listing.cells[0].facts = {{"split_digest.valid", 1}, {"split_bytes.valid", 1000}};
  listing.cells[1].facts = {{"split_digest.valid", 2}, {"split_bytes.valid", 1000}};
  EXPECT_FALSE(of("final_bits_per_byte.valid"));
  listing.cells[1].facts["split_bytes.valid"] = 1001;
  EXPECT_TRUE(of("final_bits_per_byte.valid")) << "not the same text";
  listing.cells[1].facts = {{"split_digest.valid", 1}, {"split_bytes.valid", 1000}};
  EXPECT_FALSE(of("final_loss.valid")) << "the same tokens: a text of ASCII as byte and char256";
}

TEST(EvaluationBasis, AnotherTextIsNotComparedByBitsPerByteEither) {
  EXPECT_EQ(said("final_bits_per_byte.valid", {{"data.corpus", "self"}, {"data.tokenizer", "byte"}},
                 {{"data.corpus", "wikitext-2"}, {"data.tokenizer", "gpt2"}})
                .substr(0, 55),
            "data.corpus is wikitext-2, in the baseline self; data.t");
}

}  // namespace evaluation_basis_test
}  // namespace depthgrid
