#include "distributed/device_map.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <sched.h>

#include "core/base/error.hpp"
#include "core/base/machine.hpp"

namespace depthgrid {
namespace {

/// " (NAME=value, …)": the variables that are set among those that decide which GPUs a rank sees.
std::string device_environment() {
  constexpr std::array kNames = {"CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS",
                                 "SLURM_JOB_GPUS",       "SLURM_GPUS_PER_TASK",
                                 "SLURM_LOCALID",        "OMPI_COMM_WORLD_LOCAL_RANK"};
  std::string text;
  for (const char* name : kNames) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    text += (text.empty() ? " (" : ", ") + std::string(name) + "=" + value;
  }
  return text.empty() ? "" : text + ")";
}

/// Number of ranks that this process's launcher reports, if any.
std::optional<std::pair<std::string, int>> launched_ranks() {
  const auto read = [](const char* name) -> std::optional<std::pair<std::string, int>> {
    const char* const value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return std::pair(std::string(name), std::atoi(value));
  };
  if (const auto mpirun = read("OMPI_COMM_WORLD_SIZE")) return mpirun;
  // A batch script has SLURM_NTASKS too; only a step started by srun has SLURM_STEP_ID.
  if (std::getenv("SLURM_STEP_ID") == nullptr) return std::nullopt;
  return read("SLURM_STEP_NUM_TASKS");
}

bool same_card(const CardMap::Place& a, const CardMap::Place& b) {
  const GpuCard &x = a.card, &y = b.card;
  if (!x.uuid.empty() && !y.uuid.empty()) return x.uuid == y.uuid;
  return a.host == b.host && x.bus == y.bus;
}

}  // namespace

bool gpu_is_meant(bool shown) {
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    return !cards_of(visible).empty();
  }
  const auto given = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  return shown || given("SLURM_STEP_GPUS") || given("SLURM_JOB_GPUS");
}

bool trains_on_gpus(std::string_view wanted, const std::vector<RankGpus>& ranks) {
  if (wanted == "cpu") return false;
  const auto sees_none = [](const RankGpus& r) { return r.count == 0; };
  const bool mixed = !std::ranges::all_of(ranks, sees_none);
  // The rank to speak of: one that lacks a GPU that was meant, if there is one.
  auto without =
      std::ranges::find_if(ranks, [&](const RankGpus& r) { return sees_none(r) && r.meant; });
  const bool meant = without != ranks.end();
  if (!meant) without = std::ranges::find_if(ranks, sees_none);
  if (without == ranks.end()) return true;
  if (wanted == "auto" && !mixed && !meant) return false;
  std::string text = wanted == "cuda" ? "resources.device is cuda, but no GPU can be used: "
                     : mixed          ? "some ranks see a GPU and others none: "
                                      : "a GPU is meant for this run, but none can be used: ";
  if (ranks.size() > 1) text += "rank " + std::to_string(without - ranks.begin()) + ": ";
  text += without->problem;
  if (mixed) text += "; start ranks only where there is a GPU";
  text += "; to train on the CPU: --set resources.device=cpu";
  text += device_environment();
  // What was given to this process and does not work is the node's fault.
  if (meant || mixed) throw NodeError(ExitCode::BadConfig, "device", text);
  throw UserError(ExitCode::BadConfig, text);
}

int device_for(int devices, int local_rank) {
  return local_rank % devices;
}

CardMap::CardMap(Collective& group, const Place& mine) {
  // No name has a line break in it.
  const std::string text = mine.host + "\n" + mine.card.bus + "\n" + mine.card.uuid;
  for (const std::string& theirs : gather_text(group, text)) {
    const std::size_t bus = theirs.find('\n') + 1;
    const std::size_t uuid = theirs.find('\n', bus) + 1;
    places_.push_back(
        {theirs.substr(0, bus - 1), {theirs.substr(bus, uuid - bus - 1), theirs.substr(uuid)}});
  }
}

int CardMap::sharers(int rank) const {
  const Place& own = places_.at(static_cast<std::size_t>(rank));
  return static_cast<int>(
      std::ranges::count_if(places_, [&](const Place& p) { return same_card(p, own); }));
}

bool CardMap::distinct() const {
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    if (sharers(static_cast<int>(rank)) > 1) return false;
  }
  return true;
}

std::optional<std::string> CardMap::sharing_note() const {
  std::string note;
  for (std::size_t first = 0; first < places_.size(); ++first) {
    std::string ranks;
    bool seen = false;  // with an earlier rank
    for (std::size_t rank = 0; rank < places_.size(); ++rank) {
      if (!same_card(places_[first], places_[rank])) continue;
      seen = seen || rank < first;
      ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
    }
    const int sharers = this->sharers(static_cast<int>(first));
    if (seen || sharers < 2) continue;
    note += (note.empty() ? "" : "; ") + std::string("ranks ") + ranks + " share the GPU " +
            places_[first].host + " " + places_[first].card.bus + ": each gets 1/" +
            std::to_string(sharers) + " of its memory";
  }
  if (note.empty()) return std::nullopt;
  return note + device_environment();
}

double memory_share(int sharers) {
  constexpr double kReserve = 0.1;  // contexts of CUDA, handles and workspaces of its libraries
  return sharers < 2 ? 1 : (1 - kReserve) / sharers;
}

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::optional<std::string> affinity_warning(int cpus, int threads) {
  if (cpus >= threads) return std::nullopt;
  return "resources.threads is " + std::to_string(threads) + ", but this rank may use " +
         std::to_string(cpus) + (cpus == 1 ? " CPU" : " CPUs") +
         " only: its threads will wait for each other; set resources.threads lower, or let the "
         "launcher give each rank more CPUs (mpirun --map-by slot:PE=" +
         std::to_string(threads) + ", srun --cpus-per-task=" + std::to_string(threads) + ")";
}

std::optional<std::string> world_size_problem(int world_size) {
  const auto launched = launched_ranks();
  if (!launched || launched->second == world_size) return std::nullopt;
  return launched->first + " is " + std::to_string(launched->second) + ", but MPI finds " +
         std::to_string(world_size) + (world_size == 1 ? " rank" : " ranks") +
         ": this MPI does not know the launcher; start with srun --mpi=pmix (srun --mpi=list shows "
         "what there is) or with the mpirun of the MPI that depthgrid was built with";
}

}  // namespace depthgrid
