#include "sweeps/run/launch_capacity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "core/base/nan.hpp"
#include "core/base/processes.hpp"
#include "core/base/text_parts.hpp"
#include "core/config/text_form.hpp"
#include "sweeps/launch/card_capacity.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/slurm/slurm_client.hpp"

namespace depthgrid {
namespace {

constexpr double kToAnswer = 10;  // s

/// Leaf packing.cells_per_gpu on this machine, whose cards nvidia-smi knows without CUDA.
std::int64_t on_one_card(const CellConfig& run, bool asked, std::int64_t cards,
                         const std::function<std::vector<FusedJob>(std::int64_t slots)>& jobs) {
  if (asked || !run.is_word("packing.cells_per_gpu")) return launches_per_card(run);
  const CommandAnswer memory = real_processes().answer(
      {"nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"}, kToAnswer);
  if (memory.code != 0) return launches_per_card(run);
  double largest = 0;
  for (const FusedJob& job : jobs(cards)) {
    if (!(job.predicted_bytes <= largest)) largest = job.predicted_bytes;  // NaN stays
    if (std::isnan(largest)) break;
  }
  return launches_per_card(run, smallest_card(memory.out), largest);
}

/// Leaf resources.bind. Steps of srun are bound by Slurm.
bool binds(const CellConfig& run, const LaunchPlace& place) {
  const std::string& word = run.word("resources.bind");
  if (word == "none" || place.nodes > 1 || asks_for_mpi(place)) return false;
  return word == "cores" || std::getenv("SLURM_JOB_ID") != nullptr;
}

}  // namespace

LaunchPlace asked_place(const CellConfig& run) {
  LaunchPlace out = launch_place(run);
  if (!asks_for_mpi(out)) return out;
  const CommandAnswer answer = real_processes().answer({"srun", "--mpi=list"}, kToAnswer);
  choose_mpi(out, mpi_kinds(answer.out + answer.err));
  return out;
}

SupervisorOptions launch_capacity(
    std::optional<std::int64_t> slots, const CellConfig& run, LaunchPlace& place,
    const std::function<std::vector<FusedJob>(std::int64_t slots)>& jobs) {
  const Machine machine = this_machine();
  SupervisorOptions out;
  out.host = node_name();
  out.slurm_job = this_task();
  out.restart = restart_of_task();
  out.hang = hang_limit(hang_of(run));
  out.memory_bytes = place.nodes > 1 ? 0 : 0.8 * machine.memory_bytes;
  if (run.word("resources.device") != "cpu") out.gpus = machine.gpus;
  if (run.word("resources.device") != "cpu" && !run.null("resources.gpus")) {
    out.gpus.resize(
        std::min(out.gpus.size(), static_cast<std::size_t>(run.integer("resources.gpus"))));
  }
  const auto cards = static_cast<std::int64_t>(out.gpus.size());
  place.cards_per_node = cards;
  // Two steps of srun cannot hold one card: the second would wait without a word.
  const bool shared = place.nodes == 1;
  const std::int64_t here =
      cards > 0 ? cards * (shared ? on_one_card(run, slots.has_value(), cards, jobs) : 1)
                : std::max<std::int64_t>(1, machine.cores / place.threads);
  out.slots = slots.value_or(here * place.nodes);
  if (cards > 0 && !shared) {
    if (out.slots > here * place.nodes) {
      log(LogLevel::Warning,
          fmt::format("in an allocation of {} nodes launches do not share cards: {} at a time, "
                      "not {}",
                      place.nodes, here * place.nodes, out.slots));
    }
    out.slots = std::min(out.slots, here * place.nodes);
    place.cores_per_rank = place.cores_per_node / cards;
  }
  if (cards > 0) {  // more launches than cards share them
    const std::vector<std::string> each = out.gpus;
    while (static_cast<std::int64_t>(out.gpus.size()) < out.slots) {
      out.gpus.insert(out.gpus.end(), each.begin(), each.end());
    }
    out.memory_bytes = 0;  // a card's memory is found by running
  }
  out.disk_wait = static_cast<double>(run.integer("retry.disk_wait"));
  if (binds(run, place)) {
    out.cores = allowed_cores();
    out.cores_per_rank = static_cast<std::int64_t>(out.cores.size()) / out.slots;
    if (out.cores_per_rank < place.threads) out.cores.clear();  // too few for each to have its own
  }
  return out;
}

double allocated_seconds() {
  const std::string job = this_task();  // by an array's own id squeue would list all tasks
  if (job.empty()) return kNaN;
  const CommandAnswer left =
      real_processes().answer({"squeue", "-h", "-j", job, "-o", "%L"}, kToAnswer);
  const auto seconds = seconds_of(left.code == 0 ? without_blanks(left.out) : "");
  return seconds ? static_cast<double>(*seconds) : kNaN;  // "UNLIMITED" is no time
}

}  // namespace depthgrid
