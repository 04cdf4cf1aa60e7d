#include "sweeps/doctor/site_profile.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/config/text_form.hpp"

namespace depthgrid {

std::string site_profile(const SlurmFacts& facts) {
  if (facts.partitions.empty()) {
    throw UserError(ExitCode::BadConfig,
                    "--site: Slurm lists no partition here (sinfo): run doctor on a login node");
  }
  const SlurmPartition& chosen = *std::ranges::max_element(
      facts.partitions, {},
      [](const SlurmPartition& p) { return std::tuple(p.gpus, p.standard, p.nodes); });
  const std::string size = facts.value("MaxArraySize");
  std::string out = fmt::format(
      "# Written by `depthgrid doctor --site`. A sweep file takes it by `base: cluster.yaml`; what "
      "the sweep\n# says itself wins.\n# {}; MaxArraySize {}; srun --mpi: {}\n"
      "# partition  nodes  cores  MB  GPUs  limit\n",
      facts.version, size.empty() ? "unknown" : size, fmt::join(facts.mpi, " "));
  for (const SlurmPartition& p : facts.partitions) {
    out += fmt::format("#   {}  {}  {}  {:.0f}  {}  {}\n", p.name, p.nodes, p.cores, p.memory_mb,
                       p.gpus, p.limit);
  }
  out += fmt::format("slurm:\n  partition: {}\nresources:\n  nodes: 1\n", chosen.name);
  if (chosen.gpus > 0) {
    out += fmt::format("  gpus: {}\n  cpus_per_gpu: {}\n", chosen.gpus,
                       std::max<std::int64_t>(chosen.cores / chosen.gpus, 1));
  }
  constexpr std::int64_t kUsual = 4 * 3600;  // the leaf's default
  const auto limit = seconds_of(chosen.limit);
  if (limit && *limit > 0 && *limit < kUsual) out += fmt::format("  time: \"{}\"\n", chosen.limit);
  if (!facts.has_pmix()) out += "  launcher: mpirun\n";
  return out;
}

}  // namespace depthgrid
