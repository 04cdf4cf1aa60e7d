#include "distributed/device_map.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <vector>

#include <sched.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// "NAME=value" or "NAME is not set" for each variable that decides which GPUs a rank sees.
std::string device_environment() {
  constexpr std::array kNames = {"CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_GPUS_PER_TASK",
                                 "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK"};
  std::string text;
  for (const char* name : kNames) {
    const char* const value = std::getenv(name);
    text += text.empty() ? "" : ", ";
    text += value == nullptr ? std::string(name) + " is not set" : std::string(name) + "=" + value;
  }
  return text;
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

}  // namespace

std::optional<int> device_for(int devices, int local_rank, int local_size) {
  if (devices == 0) return std::nullopt;
  if (devices == 1) return 0;
  if (devices >= local_size) return local_rank;
  throw UserError(ExitCode::BadConfig,
                  "local rank " + std::to_string(local_rank) + " sees " + std::to_string(devices) +
                      " GPUs, but " + std::to_string(local_size) +
                      " ranks share this host: start one rank a GPU, or bind one GPU to each rank "
                      "(" +
                      device_environment() + ")");
}

void expect_distinct_devices(Collective& world, const std::string& device_name) {
  const std::vector<std::string> names = gather_text(world, device_name);
  std::map<std::string, std::size_t> owners;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    if (names[rank].empty()) continue;
    const auto [owner, fresh] = owners.emplace(names[rank], rank);
    if (!fresh) {
      throw UserError(ExitCode::BadConfig, "ranks " + std::to_string(owner->second) + " and " +
                                               std::to_string(rank) + " share the GPU " +
                                               names[rank] + ": start one rank a GPU (" +
                                               device_environment() + ")");
    }
  }
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
