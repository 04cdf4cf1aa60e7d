// Weights out and in: native names, and GPT-2 as the package transformers writes it
// (tests/golden/hf_gpt2.py made the reference).
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include "core/base/error.hpp"
#include "core/config/cell_config.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"
#include "worker/session/warm_start.hpp"
#include "worker/weights/hf_gpt2.hpp"
#include "worker/weights/safetensors.hpp"

namespace depthgrid::testing {
namespace weights_test {

const std::filesystem::path kReference = DEPTHGRID_SOURCE_DIR "/tests/golden/hf_gpt2";

CellConfig reference_config(const std::string& path = kReference) {
  return make_config({{"model.d_model", 16},
                      {"model.n_layers", 2},
                      {"model.n_heads", 2},
                      {"model.max_seq_len", 12},
                      {"model.activation", "gelu_tanh"},
                      {"model.tie_embeddings", true},
                      {"model.init.from", path},
                      {"model.init.layout", "hf-gpt2"},
                      {"data.seq_len", 12},
                      {"data.tokenizer", "char"},
                      {"model.vocab_size", 23}});
}

std::string problem_of(const auto& work) {
  try {
    work();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(HfGpt2, AModelOfTransformersGivesItsLogitsHere) {
  const CellConfig config = reference_config();
  const Built built(model_options({&config, &config}), {1, 2});
  warm_start({&config, &config}, built.options, *built.arena);

  const auto reference = nlohmann::json::parse(std::ifstream(kReference / "logits.json"));
  std::vector<std::int64_t> tokens;
  for (const auto& row : reference.at("tokens")) {
    for (const std::int64_t id : row) tokens.push_back(id);
  }
  const at::Tensor ids = at::tensor(tokens, at::kLong).view({1, 2, 12}).expand({2, 2, 12});
  const at::Tensor theirs =
      at::tensor(reference.at("logits").get<std::vector<double>>(), at::kDouble).view({2, 12, 23});
  const at::NoGradGuard no_grad;
  const at::Tensor ours = built.model->logits(ids, {});
  EXPECT_GT(theirs.std().item<double>(), 1);
  for (std::int64_t e = 0; e < 2; ++e) {
    EXPECT_LE((ours[e] - theirs).abs().max().item<double>(), 2e-5);
  }
}

TEST(HfGpt2, WhatIsWrittenIsTheFileThatWasRead) {
  const CellConfig config = reference_config();
  const Built built(model_options({&config}), {1});
  warm_start({&config}, built.options, *built.arena);
  const SafetensorsFile theirs(kReference / "model.safetensors");
  const auto ours =
      weights_of(*built.arena, 0, hf_gpt2_places(built.options, built.arena->layout()));

  ASSERT_EQ(ours.size(), theirs.entries().size());
  ASSERT_EQ(ours.size(), built.arena->layout().slots().size());
  for (const auto& [name, tensor] : ours) {
    ASSERT_NE(theirs.find(name), nullptr) << name;
    EXPECT_TRUE(theirs.read(*theirs.find(name)).equal(tensor)) << name;
  }
  const TemporaryFolder folder;
  const auto file = folder.write("config.json", hf_gpt2_config(built.options, 0));
  EXPECT_EQ(hf_gpt2_differences(built.options, 0, file), std::vector<std::string>());
}

TEST(HfGpt2, OldNamesMasksAndACopyOfTheHeadAreUnderstood) {
  const SafetensorsFile theirs(kReference / "model.safetensors");
  std::vector<std::pair<std::string, at::Tensor>> renamed;
  for (const SafetensorsEntry& entry : theirs.entries()) {
    renamed.emplace_back(entry.name.substr(std::string("transformer.").size()), theirs.read(entry));
  }
  renamed.emplace_back("h.1.attn.bias", at::tensor({1.0F}));
  renamed.emplace_back("lm_head.weight", theirs.read(*theirs.find("transformer.wte.weight")));
  const TemporaryFolder folder;
  write_safetensors(folder.path() / "model.safetensors", renamed);
  std::filesystem::copy(kReference / "config.json", folder.path() / "config.json");
  const CellConfig a = reference_config(), b = reference_config(folder.path());
  const Built built(model_options({&a, &b}), {1, 2});
  warm_start({&a, &b}, built.options, *built.arena);
  EXPECT_TRUE(built.arena->values()[0].equal(built.arena->values()[1]));
}

TEST(HfGpt2, AllReasonsAgainstACellAreListed) {
  ModelOptions o = small_options("standard", 2);
  o.residual.scale = {1, 0.5};
  EXPECT_TRUE(hf_gpt2_obstacles(o, 0).empty());
  EXPECT_EQ(hf_gpt2_obstacles(o, 1).size(), 1);
  o.positions = Positions::Rope;
  o.norm = NormChoice::Rms;
  o.activation = Activation::Swiglu;
  o.sublayers = Sublayers::Parallel;
  o.attention_bias = o.mlp_bias = false;
  EXPECT_EQ(hf_gpt2_obstacles(o, 0).size(), 6);
  for (const char* family : {"time_indexed", "tong"}) {
    EXPECT_FALSE(hf_gpt2_obstacles(small_options(family), 0).empty());
  }
}

TEST(HfGpt2, AnotherModelIsRefusedWithEveryDifference) {
  const CellConfig config = reference_config();
  ModelOptions o = model_options({&config});
  o.heads = 4;  // no shape tells
  o.activation = Activation::Gelu;
  o.norm_eps = {1e-6};
  const Built built(o, {1});
  const std::string problem =
      problem_of([&] { warm_start({&config}, built.options, *built.arena); });
  for (const char* said :
       {"n_head: 2 there, 4 here", "layer_norm_epsilon", "activation_function"}) {
    EXPECT_NE(problem.find(said), std::string::npos) << problem;
  }
}

class NativeWeights : public ::testing::TestWithParam<ModelCase> {};

TEST_P(NativeWeights, ComeBackToTheBit) {
  ModelOptions o = small_options(GetParam().family, 2);
  GetParam().change(o);
  const Built from(o, {1, 2}), to(o, {3, 4});
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "w.safetensors";
  const auto places = native_places(from.arena->layout());
  write_safetensors(file, weights_of(*from.arena, 1, places));
  const at::Tensor other = to.arena->values()[1].clone();

  load_weights(*to.arena, 0, places, SafetensorsFile(file));

  EXPECT_TRUE(to.arena->values()[0].equal(from.arena->values()[1]));
  EXPECT_TRUE(to.arena->values()[1].equal(other));
}

INSTANTIATE_TEST_SUITE_P(Cases, NativeWeights, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

TEST(StartWeights, NamesThatDifferAreAllListedAndNothingIsSet) {
  ModelOptions deep = small_options("standard"), shallow = small_options("standard");
  shallow.layers = 2;
  shallow.vocabulary = 19;
  const Built from(shallow, {1}), to(deep, {2});
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "w.safetensors";
  auto weights = weights_of(*from.arena, 0, native_places(from.arena->layout()));
  weights.emplace_back("stranger", at::tensor({1.0F}));
  write_safetensors(file, weights);
  const at::Tensor before = to.arena->values().clone();

  const std::string problem = problem_of([&] {
    load_weights(*to.arena, 0, native_places(to.arena->layout()), SafetensorsFile(file));
  });

  for (const char* said :
       {"missing: layers.2.attn.qkv.weight (60 x 20)", "missing: layers.2.mlp.down.bias (20)",
        "embedding.weight: 19 x 20 in the file, 17 x 20 in the model",
        "unknown to the model: stranger"}) {
    EXPECT_NE(problem.find(said), std::string::npos) << said << "\n" << problem;
  }
  EXPECT_TRUE(to.arena->values().equal(before));
}

}  // namespace weights_test
}  // namespace depthgrid::testing
