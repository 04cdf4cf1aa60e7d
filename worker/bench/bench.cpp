#include "worker/bench/bench.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/output.hpp"
#include "core/base/scratch_folder.hpp"
#include "core/data/dataset.hpp"
#include "core/train/trainer.hpp"
#include "distributed/device_plugin.hpp"
#include "storage/columns/variables.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/publish.hpp"
#include "sweeps/protocol/sweep_of_model.hpp"
#include "worker/bench/bench_device.hpp"
#include "worker/bench/bench_dump.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/process/provenance.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::int64_t kLossSteps = 20;  // steps whose losses are compared between programs

/// @param more  facts of this benchmark, for its JSON.
/// @param words  the same as text.
void print_times(std::vector<double> milliseconds, bool json, const std::string& what,
                 const Json& more = Json::object(), const std::string& words = "") {
  const double mean = std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0) /
                      static_cast<double>(milliseconds.size());
  std::ranges::sort(milliseconds);
  const double median = milliseconds[milliseconds.size() / 2];
  if (json) {
    Json out = {{"schema", 1},
                {"name", "depthgrid"},
                {"instruction_sets", instruction_sets()},
                {"ms_per_cell_step", median},
                {"ms_mean", mean},
                {"ms_min", milliseconds.front()},
                {"ms_max", milliseconds.back()}};
    out.update(more);
    print(fmt::format("{}\n", json_text(out)));
    return;
  }
  print(fmt::format("{}: {:.4g} ms per cell-step (median of {}; {:.4g} … {:.4g}; {}{})\n", what,
                    median, milliseconds.size(), milliseconds.front(), milliseconds.back(),
                    instruction_sets(), words));
}

/// What a GPU was given to do by one step; empty where nothing was seen.
Json launches(const DeviceWork& work) {
  if (work.kernels == 0) return Json::object();
  Json longest = Json::array(), calls = Json::array();
  for (const auto& [name, ms] : work.longest) longest.push_back({{"kernel", name}, {"ms", ms}});
  for (const auto& [name, ms] : work.calls) calls.push_back({{"call", name}, {"ms", ms}});
  return {{"launches", work.kernels},
          {"copies", work.copies},
          {"busy_ms", work.busy_ms},
          {"longest", longest},
          {"calls", calls}};
}

std::string launches_in_words(const DeviceWork& work) {
  if (work.kernels == 0) return "";
  return fmt::format("; a step: {} kernels and {} copies, {:.4g} ms of the device", work.kernels,
                     work.copies, work.busy_ms);
}

/// The cells of a benchmark: those defined by the overrides, or E copies with seeds 0 … E − 1.
/// @throws UserError if these are not --cells cells of one structure.
std::vector<CellConfig> bench_cells(const BenchCommand& command) {
  std::vector<std::string> set = command.set;
  const bool own_corpus = std::ranges::any_of(
      command.set, [](const std::string& s) { return s.starts_with("data.corpus"); });
  if (!own_corpus) {
    set.emplace_back("data.corpus=synthetic:markov");
    set.emplace_back("data.synthetic.vocab_size=256");
    set.emplace_back("data.synthetic.tokens=200000");
  }
  Sweep sweep = sweep_of_model("family", command.family, set);
  if (sweep.cells.size() == 1 && command.cells > 1) {
    set.push_back("seeds=" + std::to_string(command.cells));
    sweep = sweep_of_model("family", command.family, set);
  }
  if (static_cast<std::int64_t>(sweep.cells.size()) != command.cells) {
    throw UserError(ExitCode::Usage,
                    fmt::format("bench: the overrides make {} cells, --cells says {}",
                                sweep.cells.size(), command.cells));
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

int bench_step(const BenchCommand& command) {
  const std::vector<CellConfig> cells = bench_cells(command);
  std::vector<const CellConfig*> configs;
  for (const CellConfig& c : cells) configs.push_back(&c);
  const CellConfig& first = cells.front();
  const Dataset data = open_dataset(data_options(first));
  const BenchDevice bench(command.device, first);
  FusedModel fused(configs, bench.device());
  const Sampler sampler(sampler_kind(first.word("data.sampler")), data.train().size(),
                        first.integer("data.seq_len"), fused.train.batch);
  const TextBatches batches(data.train(), sampler, fused.train.data_seed);
  CellSet set(configs.size());
  NoSync sync;
  Trainer trainer(*fused.language, *fused.arena, *fused.optimizer, batches, sync, set, fused.train);

  const std::filesystem::path dump = command.dump;
  if (!command.dump.empty()) write_dump(dump, cells, fused, batches, kLossSteps);
  const double start = bench.restart_peak();
  const std::vector<std::string_view> names = fused.language->loss_parts();
  Json losses = {{"loss", Json::array()}, {"parts", Json::object()}};
  std::int64_t step = 0;
  const std::int64_t warm_up = command.dump.empty() ? 5 : kLossSteps;
  while (step < warm_up) {
    const StepReport done = trainer.step(++step);
    losses["loss"].push_back(done.loss);
    for (std::size_t i = 0; i < names.size(); ++i)
      losses["parts"][names[i]].push_back(done.parts[i]);
  }
  if (!command.dump.empty())
    publish_replace(dump / "losses.json", std::string_view(json_text(losses)));
  const auto next_step = [&] { trainer.step(++step % fused.train.steps + 1); };
  std::vector<double> milliseconds;
  bench.synchronize();
  for (std::int64_t i = 0; i < command.steps; ++i) {
    const Stopwatch clock;
    next_step();
    bench.synchronize();
    milliseconds.push_back(clock.seconds() * 1e3 / static_cast<double>(command.cells));
  }
  const double peak = bench.peak_bytes();
  const DeviceWork work = command.launches ? bench.work_of(next_step) : DeviceWork{};
  Json more = {{"device", bench.name()}, {"precision", first.word("train.precision")},
               {"cells", command.cells}, {"parameters", fused.arena->size()},
               {"start_bytes", start},   {"peak_bytes", peak}};
  more.update(launches(work));
  print_times(
      std::move(milliseconds), command.json,
      fmt::format("{}, {} cells, {} parameters each", command.family, command.cells,
                  fused.arena->size()),
      more,
      fmt::format("; {}; at most {:.0f} MB{}", bench.name(), peak / 1e6, launches_in_words(work)));
  return 0;
}

int bench_optimiser(const BenchCommand& command) {
  const std::int64_t p = command.parameters;
  const CellConfig config = bench_cell(command);
  const TrainOptions t = train_options(
      std::vector<const CellConfig*>(static_cast<std::size_t>(command.cells), &config));
  const BenchDevice bench(command.device, config);
  ParameterLayout layout;
  layout.parameter({.name = "weights", .shape = {p}, .init = {}});
  Arena arena(std::move(layout), t.model_seed,
              at::TensorOptions().dtype(at::kFloat).device(bench.device()));
  CellOptimizer optimizer(arena, t,
                          bench.device().is_cpu()
                              ? nullptr
                              : make_device_kernels(segment_table(arena.layout(), t), t.optimizer,
                                                    t.clip_scope, command.cells));
  arena.values().copy_(at::randn(arena.values().sizes()));
  const at::Tensor gradient = at::randn(arena.values().sizes(), arena.values().options());
  const std::vector<std::uint8_t> active(static_cast<std::size_t>(command.cells), 1);
  std::vector<double> milliseconds;
  for (std::int64_t i = 0; i < command.steps + 3; ++i) {
    arena.gradients().copy_(gradient);
    bench.synchronize();
    const Stopwatch clock;
    optimizer.step(i % t.steps + 1, active);
    bench.synchronize();
    if (i >= 3) milliseconds.push_back(clock.seconds() * 1e3 / static_cast<double>(command.cells));
  }
  print_times(std::move(milliseconds), command.json,
              fmt::format("optimiser, {} x {}", command.cells, p),
              {{"device", bench.name()}, {"peak_bytes", bench.peak_bytes()}}, "; " + bench.name());
  return 0;
}

/// The row that a training step writes for each cell: every scalar and per-group series.
int bench_journal(const BenchCommand& command) {
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
    for (std::int64_t i = 0; i < command.steps; ++i) {
      const Stopwatch clock;
      for (std::int64_t j = 1; j <= kRows; ++j) journal.append(0, i * kRows + j, row);
      milliseconds.push_back(clock.seconds() * 1e3 / static_cast<double>(kRows));
    }
  }
  print_times(std::move(milliseconds), command.json, fmt::format("journal, {} numbers", width));
  return 0;
}

struct BenchKind {
  std::string_view name;
  int (*run)(const BenchCommand&);
};
constexpr BenchKind kBenches[] = {{"step", bench_step},       {"optimiser", bench_optimiser},
                                  {"journal", bench_journal}, {"forward", bench_forward},
                                  {"decode", bench_decode},   {"kernels", bench_kernels}};

}  // namespace

CellConfig bench_cell(BenchCommand command) {
  command.cells = 1;
  return bench_cells(command).front();
}

int bench(const BenchCommand& command) {
  for (const BenchKind& kind : kBenches) {
    if (kind.name == command.what) return kind.run(command);
  }
  throw UserError(ExitCode::Usage, "bench: '" + command.what + "' is unknown");
}

}  // namespace depthgrid
