#include "worker/weights/hf_gpt2.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kGpt2Vocabulary = 50257;
constexpr std::string_view kPrefix = "transformer.";

/// Names of one map or norm of a block in both formats; weight and bias, or scale and shift.
struct BlockName {
  std::string_view theirs, ours;
  bool norm;
};
constexpr BlockName kBlock[] = {
    {"ln_1", "norm1", true}, {"attn.c_attn", "attn.qkv", false}, {"attn.c_proj", "attn.out", false},
    {"ln_2", "norm2", true}, {"mlp.c_fc", "mlp.up", false},      {"mlp.c_proj", "mlp.down", false}};

void add(std::vector<WeightPlace>& to, const std::string& theirs, const std::string& ours,
         bool norm) {
  to.push_back({theirs + ".weight", ours + (norm ? ".scale" : ".weight"), !norm});
  to.push_back({theirs + ".bias", ours + (norm ? ".shift" : ".bias")});
}

const char* activation_name(const ModelOptions& o) {
  return o.activation == Activation::GeluTanh ? "gelu_new" : "gelu";
}

}  // namespace

std::vector<std::string> hf_gpt2_obstacles(const ModelOptions& o, std::size_t e) {
  const bool fixed_at_one = o.residual.kind == ScaleKind::Fixed && o.residual.scale[e] == 1;
  const bool gelu = o.activation == Activation::Gelu || o.activation == Activation::GeluTanh;
  const struct {
    bool holds;
    const char* why;
  } checks[] = {
      {o.facts().plain, "model.family is not standard"},
      {o.positions == Positions::Learned, "model.positions is not learned"},
      {o.norm == NormChoice::Layer, "model.norm is not pre with model.norm_kind: layer_norm"},
      {o.final_norm == NormChoice::Layer, "model.final_norm is not layer_norm"},
      {o.sublayers == Sublayers::Sequential, "model.sublayers is not sequential"},
      {gelu, "model.activation is neither gelu nor gelu_tanh"},
      {fixed_at_one, "model.residual.scale is not the number 1"},
      {o.attention_bias, "model.attention.bias is false"},
      {o.mlp_bias, "model.mlp.bias is false"},
      {o.mixer == Mixer::Mlp, "model.mixer is not mlp"},
  };
  std::vector<std::string> reasons;
  for (const auto& check : checks) {
    if (!check.holds) reasons.emplace_back(check.why);
  }
  return reasons;
}

std::vector<WeightPlace> hf_gpt2_places(const ModelOptions& o, const ParameterLayout& layout) {
  const std::string root(kPrefix);
  const auto own = [&](const std::string& name) {
    return std::ranges::any_of(layout.slots(), [&](const ParameterSlot& slot) {
      return slot.spec.name.starts_with(name + ".");
    });
  };
  std::vector<WeightPlace> places = {{root + "wte.weight", "embedding.weight"},
                                     {root + "wpe.weight", "position.weight"}};
  for (std::int64_t i = 0; i < o.layers; ++i) {
    for (const BlockName& part : kBlock) {
      const std::string name = fmt::format("layers.{}.{}", i, part.ours);
      add(places, fmt::format("{}h.{}.{}", root, i, part.theirs),
          own(name) ? name : fmt::format("block.{}", part.ours), part.norm);
    }
  }
  add(places, root + "ln_f", "final_norm", true);
  if (!o.tie_embeddings) places.push_back({"lm_head.weight", "head.weight"});
  return places;
}

std::string hf_gpt2_config(const ModelOptions& o, std::size_t e) {
  const Json end = o.vocabulary == kGpt2Vocabulary ? Json(kGpt2Vocabulary - 1) : Json();
  const Json json = {{"architectures", {"GPT2LMHeadModel"}},
                     {"model_type", "gpt2"},
                     {"n_embd", o.width},
                     {"n_layer", o.layers},
                     {"n_head", o.heads},
                     {"n_inner", o.hidden},
                     {"n_positions", o.max_tokens},
                     {"n_ctx", o.max_tokens},
                     {"vocab_size", o.vocabulary},
                     {"activation_function", activation_name(o)},
                     {"layer_norm_epsilon", o.norm_eps[e]},
                     {"attn_pdrop", o.dropout_attention[e]},
                     {"resid_pdrop", 0.0},
                     {"embd_pdrop", 0.0},
                     {"scale_attn_weights", true},
                     {"scale_attn_by_inverse_layer_idx", false},
                     {"add_cross_attention", false},
                     {"tie_word_embeddings", o.tie_embeddings},
                     {"bos_token_id", end},
                     {"eos_token_id", end},
                     {"torch_dtype", "float32"}};
  return json_text(json, 2) + "\n";
}

std::vector<std::string> hf_gpt2_differences(const ModelOptions& o, std::size_t e,
                                             const std::filesystem::path& config) {
  const Json json = Json::parse(std::ifstream(config), nullptr, false);
  if (!json.is_object() || json.value("model_type", Json()) != "gpt2") {
    throw StorageError(config, "is not a configuration with model_type gpt2", ExitCode::BadData);
  }
  std::vector<std::string> out;
  const auto expect = [&](const char* key, const Json& absent, const Json& ours, const char* leaf) {
    const Json theirs = json.value(key, absent);
    if (theirs == ours) return;
    out.push_back(
        fmt::format("{}: {} there, {} here ({})", key, json_text(theirs), json_text(ours), leaf));
  };
  const Json inner = json.value("n_inner", Json());
  const std::string activation = json_text(json.value("activation_function", Json("gelu_new")));
  expect("n_embd", 768, o.width, "model.d_model");
  expect("n_layer", 12, o.layers, "model.n_layers");
  expect("n_head", 12, o.heads, "model.n_heads");
  if (!inner.is_null()) expect("n_inner", Json(), o.hidden, "model.d_ff");
  expect("n_positions", 1024, o.max_tokens, "model.max_seq_len");
  expect("vocab_size", kGpt2Vocabulary, o.vocabulary, "model.vocab_size");
  expect("layer_norm_epsilon", 1e-5, o.norm_eps[e], "model.norm_eps");
  expect("scale_attn_weights", true, true, "scores are divided by the root of the head's width");
  expect("scale_attn_by_inverse_layer_idx", false, false, "they are divided by nothing else");
  expect("add_cross_attention", false, false, "there is no encoder");
  if (activation != "\"gelu_pytorch_tanh\"" || o.activation != Activation::GeluTanh) {
    expect("activation_function", "gelu_new", activation_name(o), "model.activation");
  }
  return out;
}

std::vector<WeightPlace> hf_gpt2_places_in(const SafetensorsFile& file, const ModelOptions& o,
                                           const ParameterLayout& layout,
                                           std::vector<std::string>& ignored) {
  std::vector<WeightPlace> places = hf_gpt2_places(o, layout);
  const bool bare = file.find("wte.weight") != nullptr;
  const std::string root(bare ? "" : kPrefix);
  if (bare) {
    for (WeightPlace& place : places) {
      if (place.name.starts_with(kPrefix)) place.name.erase(0, kPrefix.size());
    }
  }
  for (std::int64_t i = 0; i < o.layers; ++i) {  // masks saved by older versions
    for (const char* mask : {"bias", "masked_bias"}) {
      ignored.push_back(fmt::format("{}h.{}.attn.{}", root, i, mask));
    }
  }
  if (o.tie_embeddings) ignored.emplace_back("lm_head.weight");
  return places;
}

}  // namespace depthgrid
