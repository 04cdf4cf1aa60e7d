#include "worker/process/run_setup.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include <ATen/Context.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "core/base/parse_number.hpp"
#include "distributed/agree.hpp"
#include "distributed/device_plugin.hpp"
#include "models/cost_model.hpp"
#include "storage/files/process_identity.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/process/end_note.hpp"
#include "worker/process/provenance.hpp"

namespace depthgrid {
namespace {

constexpr const char* kShareHandedOn = "DEPTHGRID_MEMORY_SHARE";

}  // namespace

namespace {

/// What this process sees of GPUs, as far as `resources.gpus` lets it, and whether it was meant to.
struct AllowedGpus {
  GpuSearch found;
  bool meant = false;
};

AllowedGpus allowed_gpus(const CellConfig& run) {
  const std::optional<std::int64_t> most = run.integer_if("resources.gpus");
  if (most == 0) return {{0, false, "resources.gpus is 0"}, false};
  GpuSearch found = find_gpus();
  if (most) found.count = static_cast<int>(std::min<std::int64_t>(found.count, *most));
  return {found, gpu_is_meant(found.shown)};
}

/// What every rank sees, by rank.
std::vector<RankGpus> seen_by_all(Collective& world, const RankGpus& mine) {
  std::vector<RankGpus> out;
  for (const std::string& text :
       gather_text(world, fmt::format("{} {} {}", mine.count, mine.meant ? 1 : 0, mine.problem))) {
    const std::size_t count_end = text.find(' ');
    out.push_back({.count = std::stoi(text.substr(0, count_end)),
                   .problem = text.substr(count_end + 3),
                   .meant = text[count_end + 1] == '1'});
  }
  return out;
}

/// A run on the CPU of a machine that shows a GPU says why; of another machine, only its log does.
void report_why_not(const GpuSearch& search, const Collective& world) {
  if (world.rank() != 0) return;
  const std::string text = "no GPU is used: " + search.problem;
  if (search.shown) {
    log(LogLevel::Warning, text);
  } else {
    log_quietly(LogLevel::Info, text);
  }
}

}  // namespace

DeviceChoice choose_device(const CellConfig& run, Collective& world, int local_rank) {
  const std::string& wanted = run.word("resources.device");
  const DeviceChoice cpu{.device = at::kCPU, .name = "cpu (" + cpu_model() + ")"};
  if (wanted == "cpu") return cpu;
  const auto [mine, meant] = allowed_gpus(run);
  const std::vector<RankGpus> all = seen_by_all(world, {mine.count, mine.problem, meant});
  bool on_gpus = false;
  agree(world, [&] {
    try {
      on_gpus = trains_on_gpus(wanted, all);
    } catch (const NodeError& e) {  // all ranks end alike; the one that lacks a card says where
      if (mine.count == 0) note_end(static_cast<int>(e.code()), true, e.cause());
      throw;
    }
  });
  if (!on_gpus) {
    report_why_not(mine, world);
    return cpu;
  }
  const int index = device_for(mine.count, local_rank);
  DeviceChoice choice;
  choice.device = at::Device(at::kCUDA, static_cast<at::DeviceIndex>(index));
  choice.place = {this_process().host, use_device(index)};
  choice.name = "cuda " + choice.place.card.bus;
  const CardMap cards(world, choice.place);
  const auto note = cards.sharing_note();
  if (note && world.rank() == 0) log(LogLevel::Warning, *note);
  agree(world, [&] {
    choice.memory_share = share_of_card(cards.sharers(world.rank()), std::getenv(kShareHandedOn));
  });
  if (choice.memory_share < 1) limit_device_memory(index, choice.memory_share);
  return choice;
}

double share_of_card(int sharers, const char* handed_on) {
  if (handed_on == nullptr) return memory_share(sharers);
  const double share = parse_number<double>(handed_on).value_or(0);
  if (!(share > 0 && share <= 1)) {
    throw UserError(ExitCode::BadConfig,
                    fmt::format("{}={}: expected a number above 0 and up to 1: unset it",
                                kShareHandedOn, handed_on));
  }
  return share;
}

std::map<std::string, std::string> variables_of_one_card(const DeviceChoice& device) {
  if (device.place.card.uuid.empty()) return {};
  return {{"CUDA_VISIBLE_DEVICES", device.place.card.uuid},
          {kShareHandedOn, fmt::format("{}", device.memory_share)}};
}

std::optional<std::string> reproducibility_problem(bool deterministic, const DeviceChoice& device,
                                                   const char* workspace) {
  if (!deterministic || device.device.is_cpu()) return std::nullopt;
  const std::string_view given = workspace == nullptr ? "" : workspace;
  if (given == ":4096:8" || given == ":16:8") return std::nullopt;
  return "train.deterministic is true, but CUBLAS_WORKSPACE_CONFIG=" + std::string(given) +
         " lets cuBLAS add in any order: unset it (:4096:8 is then used), or set "
         "train.deterministic: false";
}

void use_reproducible_operations(bool deterministic) {
  at::globalContext().setDeterministicAlgorithms(deterministic, /*warn_only=*/false);
  // Filling fresh memory with NaN costs a pass over every result; all of ours is overwritten.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

std::string with_its_leaf(const std::string& message) {
  if (message.find("does not have a deterministic implementation") == std::string::npos) {
    return message;
  }
  return "train.deterministic is true, and a part of this model has no reproducible form on this "
         "device: set train.deterministic: false; " +
         message;
}

std::int64_t choose_threads(const CellConfig& run, std::vector<std::string>& warnings) {
  const std::int64_t threads = use_threads(run);
  if (const auto warning = affinity_warning(usable_cpus(), static_cast<int>(threads))) {
    log(LogLevel::Warning, *warning);
    warnings.push_back(*warning);
  }
  return threads;
}

CostTable quick_costs(const Sweep& sweep, at::Device device) {
  CostTable costs;
  for (const CellPlan& cell : sweep.cells) {
    if (costs.contains(cell.structure)) continue;
    const ModelOptions o = model_options({&cell.config});
    const std::int64_t tokens = cell.config.integer("data.seq_len");
    const std::int64_t batch = cell.config.integer("train.batch_size");
    StructureCost cost;
    cost.structure = cell.structure;
    cost.parameters = layout_of(o).size();
    const std::int64_t rows = batch / cell.config.integer("train.accumulation");
    cost.flops_per_token = flops_per_token(o, rows, tokens);
    cost.recomputed_flops_per_token =
        recomputed_flops_per_token(o, rows, tokens, cost.flops_per_token);
    cost.max_fused = automatic_fuse(o, batch, tokens, device);
    set_memory(cost, o, cell.config);
    set_rough_times(cost, cell.config);
    costs.emplace(cell.structure, cost);
  }
  return costs;
}

CostTable known_costs(const Sweep& sweep, const CostTable& quick) {
  CostTable costs = DescribeCache().known(sweep.cells);
  costs.insert(quick.begin(), quick.end());  // keeps what is there
  return costs;
}

}  // namespace depthgrid
