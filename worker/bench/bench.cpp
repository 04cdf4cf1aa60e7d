#include "worker/bench/bench.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/output.hpp"
#include "core/base/scratch_folder.hpp"
#include "core/data/dataset.hpp"
#include "core/train/trainer.hpp"
#include "storage/columns/variables.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/publish.hpp"
#include "sweeps/orders/sweep_of_model.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/process/provenance.hpp"
#include "worker/weights/safetensors.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::int64_t kLossSteps = 20;  // steps whose losses are compared between programs

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
    at::Tensor x = slot_view(values, slot).clone();
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
  for (const CellConfig& c : cells) leaves.push_back(Json::parse(c.json()));
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

void print_times(std::vector<double> milliseconds, bool json, const std::string& what) {
  const double mean = std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0) /
                      static_cast<double>(milliseconds.size());
  std::ranges::sort(milliseconds);
  const double median = milliseconds[milliseconds.size() / 2];
  if (json) {
    print(fmt::format("{}\n", Json{{"schema", 1},
                                   {"name", "depthgrid"},
                                   {"instruction_sets", instruction_sets()},
                                   {"ms_per_cell_step", median},
                                   {"ms_mean", mean},
                                   {"ms_min", milliseconds.front()},
                                   {"ms_max", milliseconds.back()}}
                                  .dump()));
    return;
  }
  print(fmt::format("{}: {:.4g} ms per cell-step (median of {}; {:.4g} … {:.4g}; {})\n", what,
                    median, milliseconds.size(), milliseconds.front(), milliseconds.back(),
                    instruction_sets()));
}

/// The cells of a benchmark: those defined by the overrides, or E copies with seeds 0 … E − 1.
/// @throws UserError if these are not --cells cells of one structure.
std::vector<CellConfig> bench_cells(const BenchOrder& order) {
  std::vector<std::string> set = order.set;
  const bool own_corpus = std::ranges::any_of(
      order.set, [](const std::string& s) { return s.starts_with("data.corpus"); });
  if (!own_corpus) {
    set.emplace_back("data.corpus=synthetic:markov");
    set.emplace_back("data.synthetic.vocab_size=256");
    set.emplace_back("data.synthetic.tokens=200000");
  }
  Sweep sweep = sweep_of_model("family", order.family, set);
  if (sweep.cells.size() == 1 && order.cells > 1) {
    set.push_back("seeds=" + std::to_string(order.cells));
    sweep = sweep_of_model("family", order.family, set);
  }
  if (static_cast<std::int64_t>(sweep.cells.size()) != order.cells) {
    throw UserError(ExitCode::Usage,
                    fmt::format("bench: the overrides make {} cells, --cells says {}",
                                sweep.cells.size(), order.cells));
  }
  std::vector<CellConfig> out;
  for (const CellPlan& cell : sweep.cells) {
    if (cell.structure != sweep.cells[0].structure) {
      throw UserError(ExitCode::Usage,
                      "bench: the cells differ in structure, they cannot be fused");
    }
    out.push_back(cell.config);
  }
  use_threads(out.front());
  return out;
}

int bench_step(const BenchOrder& order) {
  const std::vector<CellConfig> cells = bench_cells(order);
  std::vector<const CellConfig*> configs;
  for (const CellConfig& c : cells) configs.push_back(&c);
  const CellConfig& first = cells.front();
  const Dataset data = open_dataset(data_options(first));
  FusedModel fused(configs, at::kCPU);
  const Sampler sampler(sampler_kind(first.word("data.sampler")), data.train().size(),
                        first.integer("data.seq_len"), fused.train.batch);
  const TextBatches batches(data.train(), sampler, fused.train.data_seed);
  CellSet set(configs.size());
  NoSync sync;
  Trainer trainer(*fused.language, *fused.arena, *fused.optimizer, batches, sync, set, fused.train);

  const std::filesystem::path dump = order.dump;
  if (!order.dump.empty()) {
    make_folders(dump);
    std::vector<at::Tensor> inputs, targets;
    const std::int64_t tokens = sampler.seq_len();
    for (std::int64_t s = 1; s <= kLossSteps; ++s) {
      const at::Tensor w = batches.batch(s, 0, fused.train.batch).windows;
      inputs.push_back(w.narrow(2, 0, tokens));
      targets.push_back(w.narrow(2, 1, tokens));
    }
    publish_replace(dump / "config.json", std::string_view(dump_config(cells, fused).dump(1)));
    write_safetensors(dump / "weights.safetensors",
                      named_weights(*fused.arena, fused.arena->values()));
    write_safetensors(dump / "batches.safetensors",
                      {{"inputs", at::stack(inputs)}, {"targets", at::stack(targets)}});
  }
  const std::vector<std::string_view> names = fused.language->loss_parts();
  Json losses = {{"loss", Json::array()}, {"parts", Json::object()}};
  std::int64_t step = 0;
  const std::int64_t warm_up = order.dump.empty() ? 5 : kLossSteps;
  while (step < warm_up) {
    const StepReport done = trainer.step(++step);
    losses["loss"].push_back(done.loss);
    for (std::size_t i = 0; i < names.size(); ++i)
      losses["parts"][names[i]].push_back(done.parts[i]);
  }
  if (!order.dump.empty()) publish_replace(dump / "losses.json", std::string_view(losses.dump()));
  std::vector<double> milliseconds;
  for (std::int64_t i = 0; i < order.steps; ++i) {
    const Stopwatch clock;
    trainer.step(++step % fused.train.steps + 1);
    milliseconds.push_back(clock.seconds() * 1e3 / static_cast<double>(order.cells));
  }
  print_times(std::move(milliseconds), order.json,
              fmt::format("{}, {} cells, {} parameters each", order.family, order.cells,
                          fused.arena->size()));
  return 0;
}

int bench_optimiser(const BenchOrder& order) {
  const std::int64_t p = order.parameters;
  const CellConfig config = bench_cell(order);
  const TrainOptions t =
      train_options(std::vector<const CellConfig*>(static_cast<std::size_t>(order.cells), &config));
  ParameterLayout layout;
  layout.parameter({.name = "weights", .shape = {p}, .init = {}});
  Arena arena(std::move(layout), t.model_seed, at::kFloat);
  CellOptimizer optimizer(arena, t);
  arena.values().copy_(at::randn(arena.values().sizes()));
  const at::Tensor gradient = at::randn(arena.values().sizes());
  const std::vector<std::uint8_t> active(static_cast<std::size_t>(order.cells), 1);
  std::vector<double> milliseconds;
  for (std::int64_t i = 0; i < order.steps + 3; ++i) {
    arena.gradients().copy_(gradient);
    const Stopwatch clock;
    optimizer.step(i % t.steps + 1, active);
    if (i >= 3) milliseconds.push_back(clock.seconds() * 1e3 / static_cast<double>(order.cells));
  }
  print_times(std::move(milliseconds), order.json,
              fmt::format("optimiser, {} x {}", order.cells, p));
  return 0;
}

/// The row that a training step writes for each cell: every scalar and per-group series.
int bench_journal(const BenchOrder& order) {
  const std::int64_t width = row_numbers("step");
  constexpr std::int64_t kRows = 100;  // per measurement: a single row is too fast to time
  const ScratchFolder folder;
  std::vector<double> milliseconds;
  {
    Journal journal(folder.path() / generation_name("journal", 1),
                    {.generation = 1,
                     .first_step = 0,
                     .kinds = {{"train", {{"row", width}}}},
                     .attempt_json = "{}"});
    std::vector<double> row(static_cast<std::size_t>(width), 0.1);
    for (std::int64_t i = 0; i < order.steps; ++i) {
      const Stopwatch clock;
      for (std::int64_t j = 1; j <= kRows; ++j) journal.append(0, i * kRows + j, row);
      milliseconds.push_back(clock.seconds() * 1e3 / static_cast<double>(kRows));
    }
  }
  print_times(std::move(milliseconds), order.json, fmt::format("journal, {} numbers", width));
  return 0;
}

struct BenchKind {
  std::string_view name;
  int (*run)(const BenchOrder&);
};
constexpr BenchKind kBenches[] = {{"step", bench_step},
                                  {"optimiser", bench_optimiser},
                                  {"journal", bench_journal},
                                  {"decode", bench_decode},
                                  {"kernels", bench_kernels}};

}  // namespace

CellConfig bench_cell(BenchOrder order) {
  order.cells = 1;
  return bench_cells(order).front();
}

int bench(const BenchOrder& order) {
  for (const BenchKind& kind : kBenches) {
    if (kind.name == order.what) return kind.run(order);
  }
  throw UserError(ExitCode::Usage, "bench: '" + order.what + "' is unknown");
}

}  // namespace depthgrid
