#include "worker/bench/bench_dump.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/stack.h>

#include "core/base/json_text.hpp"
#include "storage/files/publish.hpp"
#include "worker/weights/safetensors.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

/// Names by which the baselines read a parameter: q, k and v separately.
std::vector<std::string> names_of(const ParameterSlot& slot) {
  const std::string& name = slot.spec.name;
  const std::size_t at = name.find(".attn.qkv.");
  if (at == std::string::npos) return {name};
  std::vector<std::string> names;
  for (const char part : {'q', 'k', 'v'}) {
    names.push_back(name);
    names.back().replace(at + 6, 3, std::string(1, part));
  }
  return names;
}

std::vector<std::pair<std::string, at::Tensor>> named_weights(const Arena& arena,
                                                              const at::Tensor& values) {
  std::vector<std::pair<std::string, at::Tensor>> out;
  for (const ParameterSlot& slot : arena.layout().slots()) {
    const bool bias = slot.spec.shape.size() == 2 && slot.spec.shape[0] == 1;
    at::Tensor x = slot_view(values, slot).to(at::kCPU, values.scalar_type(), false, true);
    if (bias) x = x.squeeze(1);
    const std::vector<std::string> names = names_of(slot);
    const std::vector<at::Tensor> parts = x.chunk(static_cast<std::int64_t>(names.size()), 1);
    for (std::size_t i = 0; i < names.size(); ++i) out.emplace_back(names[i], parts[i]);
  }
  return out;
}

/// Parameter group of each weight of the dump.
Json groups_by_weight(const ParameterLayout& layout) {
  Json groups = Json::object();
  for (const ParameterSlot& slot : layout.slots()) {
    for (const std::string& name : names_of(slot)) groups[name] = name_of(slot.spec.group);
  }
  return groups;
}

Json dump_config(const std::vector<CellConfig>& cells, const FusedModel& fused) {
  const CellConfig& first = cells.front();
  const ModelOptions& o = fused.options;
  const TrainOptions& t = fused.train;
  const auto trunk = [](const std::vector<double>& by_group) {
    std::vector<double> out;
    for (std::size_t i = 0; i < by_group.size(); i += kParameterGroupCount)
      out.push_back(by_group[i]);
    return out;
  };
  const auto reals = [&](std::string_view leaf) {
    std::vector<double> out;
    for (const CellConfig& c : cells) out.push_back(c.real(leaf));
    return out;
  };
  Json leaves = Json::array();
  for (const CellConfig& c : cells) leaves.push_back(parse_ordered_json(c.json()));
  return {{"family", o.family},
          {"E", o.cells},
          {"d_model", o.width},
          {"n_layers", o.layers},
          {"n_heads", o.heads},
          {"d_ff", o.hidden},
          {"seq_len", first.integer("data.seq_len")},
          {"batch_size", t.batch},
          {"vocab_size", o.vocabulary},
          {"residual_scale", o.residual.scale},
          {"sublayers", first.word("model.sublayers")},
          {"modulation_hidden", o.modulation.hidden},
          {"frequencies", o.time.frequencies},
          {"include_t", o.time.include_t},
          {"targets", first.words("model.modulation.targets")},
          {"no_decay", first.words("train.no_decay")},
          {"optimizer", first.word("train.optimizer")},
          {"lr", trunk(t.lr)},
          {"weight_decay", trunk(t.weight_decay)},
          {"beta1", reals("train.beta1")},
          {"beta2", reals("train.beta2")},
          {"eps", reals("train.eps")},
          {"clip", t.clip},
          {"precision", first.word("train.precision")},
          {"tie_embeddings", o.tie_embeddings},
          {"groups", groups_by_weight(fused.arena->layout())},
          {"leaves", leaves}};
}

/// Of the mean loss of the first batch, before any step.
at::Tensor first_gradients(const FusedModel& fused, const TextBatches& batches) {
  const std::int64_t rows = fused.train.batch;
  const at::Tensor total = fused.language->losses(batches.batch(1, 0, rows)).total;
  total.backward(at::full_like(total, 1.0 / static_cast<double>(rows * batches.tokens())));
  at::Tensor out = fused.arena->gradients().clone();
  fused.arena->zero_gradients();
  return out;
}

}  // namespace

void write_dump(const std::filesystem::path& folder, const std::vector<CellConfig>& cells,
                const FusedModel& fused, const TextBatches& batches, std::int64_t steps) {
  make_folders(folder);
  std::vector<at::Tensor> inputs, targets;
  for (std::int64_t s = 1; s <= steps; ++s) {
    const at::Tensor w = batches.batch(s, 0, fused.train.batch).windows;
    inputs.push_back(w.narrow(2, 0, batches.tokens()));
    targets.push_back(w.narrow(2, 1, batches.tokens()));
  }
  publish_replace(folder / "config.json",
                  std::string_view(json_text(dump_config(cells, fused), 1)));
  write_safetensors(folder / "weights.safetensors",
                    named_weights(*fused.arena, fused.arena->values()));
  write_safetensors(folder / "batches.safetensors",
                    {{"inputs", at::stack(inputs)}, {"targets", at::stack(targets)}});
  write_safetensors(folder / "gradients.safetensors",
                    named_weights(*fused.arena, first_gradients(fused, batches)));
}

}  // namespace depthgrid
