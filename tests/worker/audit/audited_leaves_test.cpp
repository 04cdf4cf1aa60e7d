#include "worker/audit/audited_leaves.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/Parallel.h>

#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_service.hpp"

namespace depthgrid::testing {
namespace audited_leaves_test {

constexpr std::int64_t kOne = 1;

/// A small structure of the defaults, with some leaves changed.
CellConfig config(ValueMap more) {
  ValueMap leaves = {{"data.corpus", "synthetic:markov"},
                     {"data.seq_len", 9 * kOne},
                     {"data.synthetic.vocab_size", 19 * kOne},
                     {"model.d_model", 16 * kOne},
                     {"model.n_heads", 2 * kOne},
                     {"model.n_layers", 3 * kOne}};
  for (const auto& [path, value] : more) {
    std::erase_if(leaves, [&](const auto& leaf) { return leaf.first == path; });
    leaves.emplace_back(path, value);
  }
  sort_map(leaves);
  return make_config(leaves);
}

std::vector<std::string> paths(const CellConfig& c) {
  std::vector<std::string> out;
  for (const AuditedLeaf& leaf : audited_leaves(c)) out.push_back(leaf.path);
  return out;
}

bool has(const std::vector<std::string>& all, const char* path) {
  return std::ranges::find(all, path) != all.end();
}

TEST(AuditedLeaves, AreThoseThatTheCellReads) {
  const std::vector<std::string> standard = paths(config({}));
  for (const char* path : {"model.residual.scale", "model.norm_eps", "model.init.std"}) {
    EXPECT_TRUE(has(standard, path)) << path;
  }
  for (const char* path : {"model.seed", "model.init.from", "model.rope_base", "model.tdt.capacity",
                           "model.d_model"}) {
    EXPECT_FALSE(has(standard, path)) << path;
  }
  const std::vector<std::string> tdt = paths(config({{"model.family", "tdt"}}));
  for (const char* path : {"model.rope_base", "model.tdt.capacity", "model.tdt.min_k",
                           "model.tdt.threshold", "model.tdt.lambda_tpn"}) {
    EXPECT_TRUE(has(tdt, path)) << path;
  }
}

class EveryLeafActs : public ::testing::TestWithParam<ValueMap> {};

TEST_P(EveryLeafActs, InItsStructure) {
  at::set_num_threads(1);
  const CellConfig c = config(GetParam());
  AuditModels models(subject_of({&c}, 1e9));

  const AuditResult result = check_leaves(models);

  EXPECT_EQ(result.verdict, AuditVerdict::Pass) << result.note;
  EXPECT_GE(models.subject().leaves.size(), 4U);
}

INSTANTIATE_TEST_SUITE_P(
    Families, EveryLeafActs,
    ::testing::Values(ValueMap{},
                      ValueMap{{"model.positions", "rope"}, {"model.residual.scale", "learned"}},
                      ValueMap{{"model.dropout.mlp", 0.1}, {"model.init.scheme", "pytorch"}},
                      ValueMap{{"model.family", "time_indexed"}},
                      ValueMap{{"model.family", "time_indexed"}, {"model.mixer", "ssm"}},
                      ValueMap{{"model.family", "time_indexed"},
                               {"model.time.dependence", "constant"},
                               {"model.time_features.kind", "geometric"}},
                      ValueMap{{"model.family", "time_indexed"},
                               {"model.time.nodes", "left"},
                               {"model.solver.method", "midpoint"}},
                      ValueMap{{"model.family", "tong"},
                               {"model.time.nodes", "left"},
                               {"model.gradient.mode", "adjoint"}},
                      ValueMap{{"model.family", "tong"}}, ValueMap{{"model.family", "hybrid_ode"}},
                      ValueMap{{"model.family", "hybrid_ode"},
                               {"model.field.kind", "mlp"},
                               {"model.replaced_layers", ValueList{0 * kOne, 3 * kOne}}},
                      ValueMap{{"model.family", "tdt"}},
                      ValueMap{{"model.family", "tdt"}, {"model.tdt.capacity", 1.0}},
                      ValueMap{{"model.family", "tdt"}, {"model.preset", "tdt/literal"}},
                      ValueMap{{"model.family", "tdt"},
                               {"model.tdt.router.bias_init", "logit_capacity"}},
                      ValueMap{{"model.family", "mod"}}));

// A fixed residual scale that no layer reads.
TEST(AuditedLeaves, ALeafWithoutEffectIsNamed) {
  const CellConfig c = config({});
  AuditSubject subject = subject_of({&c}, 1e9);
  const auto plain = subject.options;
  for (AuditedLeaf& leaf : subject.leaves) {
    if (leaf.path == "model.norm_eps") leaf.changed = {[plain] { return plain({0}); }};
  }
  AuditModels models(subject);

  const AuditResult result = check_leaves(models);

  EXPECT_EQ(result.verdict, AuditVerdict::Fail);
  EXPECT_EQ(result.value, 1);
  EXPECT_NE(result.note.find("model.norm_eps"), std::string::npos);
}

/// Every listed scheme of start values passes the first loss, tied or not.
TEST(FirstLoss, OfEverySchemePasses) {
  at::set_num_threads(1);
  for (const char* family : {"standard", "hybrid_ode"}) {
    for (const char* scheme : {"pytorch", "gpt2", "xavier"}) {
      for (const bool tied : {false, true}) {
        for (const std::int64_t tokens : {2, 3, 9}) {
          const CellConfig c = config({{"model.family", family},
                                       {"model.init.scheme", scheme},
                                       {"model.tie_embeddings", tied},
                                       {"model.norm", "none"}});
          AuditSubject subject = subject_of({&c}, 1e9);
          subject.tokens = tokens;
          AuditModels models(subject);
          const AuditResult result = check_initial_loss(models);
          EXPECT_EQ(result.verdict, AuditVerdict::Pass)
              << family << " " << scheme << (tied ? " tied " : " ") << tokens << ": "
              << result.note;
        }
      }
    }
  }
}

/// Honest starts at a width of real models: what they cost is at most a warning.
TEST(FirstLoss, OfNoFamilyFailsAtARealWidth) {
  at::set_num_threads(1);
  for (const char* family : {"standard", "time_indexed", "tong", "hybrid_ode", "tdt", "mod"}) {
    for (const char* scheme : {"pytorch", "gpt2", "xavier"}) {
      for (const bool tied : {false, true}) {
        for (const char* norm : {"pre", "none"}) {
          ValueMap leaves = {
              {"model.family", family},       {"model.init.scheme", scheme},
              {"model.tie_embeddings", tied}, {"model.norm", norm},
              {"model.d_model", 256 * kOne},  {"model.n_layers", 2 * kOne},
              {"data.seq_len", 16 * kOne},    {"data.synthetic.vocab_size", 64 * kOne}};
          if (std::string_view(scheme) == "gpt2") leaves.emplace_back("model.init.std", 0.2);
          const CellConfig c = config(leaves);
          AuditModels models(subject_of({&c}, 1e9));
          const AuditResult result = check_initial_loss(models);
          EXPECT_NE(result.verdict, AuditVerdict::Fail)
              << family << " " << scheme << (tied ? " tied " : " ") << norm << ": " << result.note;
        }
      }
    }
  }
}

}  // namespace audited_leaves_test
}  // namespace depthgrid::testing
