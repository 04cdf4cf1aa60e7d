#include "sweeps/launch/launcher.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "core/base/enum_words.hpp"
#include "core/base/error.hpp"
#include "core/base/text_parts.hpp"

namespace depthgrid {
namespace {

constexpr const char* kNoMpi = "none";

/// By these Open MPI takes a process for one that srun has started with a PMI.
constexpr std::array<std::string_view, 4> kMarksOfSrun = {"SLURM_JOBID", "SLURM_JOB_ID",
                                                          "SLURM_STEPID", "SLURM_STEP_ID"};

constexpr std::array<std::string_view, 3> kLaunchers = {"direct", "mpirun", "srun"};

std::int64_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoll(text);
}

bool by_srun(const LaunchPlace& place) {
  return place.wanted == "srun" || (place.wanted == "auto" && place.nodes > 1);
}

LauncherKind kind_for(const LaunchPlace& place, std::int64_t ranks) {
  if (by_srun(place) && place.mpi != kNoMpi) return LauncherKind::Srun;
  if (ranks > 1) return LauncherKind::Mpirun;
  return place.nodes > 1 ? LauncherKind::Srun : LauncherKind::Direct;
}

/// Nodes that a launch needs, by cards if it has them, else by cores.
std::int64_t nodes_for(const LaunchPlace& place, std::int64_t ranks, bool on_cards) {
  const std::int64_t capacity =
      on_cards ? place.cards_per_node
               : place.cores_per_node / std::max<std::int64_t>(1, place.threads);
  if (capacity < 1) return std::min(ranks, place.nodes);
  return std::clamp<std::int64_t>((ranks + capacity - 1) / capacity, 1, place.nodes);
}

}  // namespace

std::string_view name_of(LauncherKind kind) noexcept {
  return enum_word(kLaunchers, kind);
}

LaunchPlace launch_place(const CellConfig& run) {
  LaunchPlace out;
  out.wanted = run.word("resources.launcher");
  if (!run.null("resources.threads")) out.threads = run.integer("resources.threads");
  out.nodes = std::max<std::int64_t>(1, number_in("SLURM_JOB_NUM_NODES"));
  out.mb_per_core = number_in("SLURM_MEM_PER_CPU");
  const std::int64_t cores = number_in("SLURM_CPUS_ON_NODE");
  out.cores_per_node = cores;
  if (out.mb_per_core == 0 && cores > 0) {
    out.mb_per_core = number_in("SLURM_MEM_PER_NODE") / cores;
  }
  out.as_root = geteuid() == 0;
  if (out.wanted == "srun" && std::getenv("SLURM_JOB_ID") == nullptr) {
    throw UserError(ExitCode::BadConfig,
                    "resources.launcher: srun needs a Slurm allocation, and there is none "
                    "(SLURM_JOB_ID is not set); use auto or mpirun, or submit the sweep");
  }
  return out;
}

bool asks_for_mpi(const LaunchPlace& place) {
  return by_srun(place);
}

std::vector<std::string> mpi_kinds(const std::string& text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_,";
  constexpr std::string_view kOwnName = "srun:", kVersions = "versions available:";
  std::vector<std::string> out;
  for (const std::string& line : text_lines(text)) {
    std::string kind = without_blanks(line);
    if (kind.starts_with(kOwnName)) kind = without_blanks(kind.substr(kOwnName.size()));
    const std::size_t colon = kind.find(kVersions);
    if (colon != kind.npos) kind = without_blanks(kind.substr(colon + kVersions.size()));
    const bool words = kind.find_first_not_of(kLetters) == kind.npos;
    if (kind.empty() || !words) continue;  // "MPI plugin types are..."
    std::ranges::move(split_at(kind, ','), std::back_inserter(out));
  }
  return out;
}

void choose_mpi(LaunchPlace& place, const std::vector<std::string>& kinds) {
  if (kinds.empty() || std::ranges::find(kinds, "pmix") != kinds.end()) return;
  std::string newest;  // pmix_v3 < pmix_v4
  for (const std::string& kind : kinds) {
    if (kind.starts_with("pmix")) newest = std::max(newest, kind);
  }
  if (newest.empty() && place.wanted == "srun") {
    throw UserError(ExitCode::BadConfig,
                    fmt::format("resources.launcher: srun starts Open MPI's ranks by PMIx, but "
                                "`srun --mpi=list` has only {}; use auto or mpirun",
                                fmt::join(kinds, ", ")));
  }
  place.mpi = newest.empty() ? kNoMpi : newest;
}

bool runs_alone(const LaunchPlace& place, std::int64_t ranks) {
  return place.nodes > 1 && kind_for(place, ranks) == LauncherKind::Mpirun;
}

LaunchCommand launch_command(const LaunchPlace& place, const std::vector<std::string>& worker,
                             std::int64_t ranks, const std::vector<std::string>& gpus) {
  LaunchCommand out;
  out.kind = kind_for(place, ranks);
  out.elsewhere = place.nodes > 1 && out.kind != LauncherKind::Direct;
  out.variables["OMP_NUM_THREADS"] = std::to_string(place.threads);
  // srun hands out the cards of each node, and mpirun's ranks on others see their own.
  const bool here = out.kind != LauncherKind::Srun && !runs_alone(place, ranks);
  if (!gpus.empty() && here) {
    std::vector<std::string> each;  // CUDA takes a list with a card twice for an empty one
    for (const std::string& gpu : gpus) {
      if (std::ranges::find(each, gpu) == each.end()) each.push_back(gpu);
    }
    out.variables["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(each, ","));
  }
  if (out.kind == LauncherKind::Mpirun) {
    out.words = {"mpirun",         "-q", "-np", std::to_string(ranks), "--bind-to", "none",
                 "--oversubscribe"};
    if (place.as_root) out.words.emplace_back("--allow-run-as-root");
    if (place.nodes > 1) {  // as many on each node as by srun
      const std::int64_t nodes = nodes_for(place, ranks, !gpus.empty());
      out.words.insert(out.words.end(),
                       {"--map-by", fmt::format("ppr:{}:node", (ranks + nodes - 1) / nodes)});
    }
  }
  if (out.kind == LauncherKind::Srun) {
    out.words = {"srun",
                 "--exact",
                 "-n",
                 std::to_string(ranks),
                 "-c",
                 std::to_string(std::max(place.threads, place.cores_per_rank)),
                 "--mpi=" + place.mpi,
                 "--kill-on-bad-exit=1"};
    if (place.mb_per_core > 0) {
      out.words.push_back(fmt::format("--mem-per-cpu={}", place.mb_per_core));
    }
    const std::int64_t nodes = nodes_for(place, ranks, !gpus.empty());
    out.words.insert(out.words.end(), {"-N", std::to_string(nodes)});
    const std::int64_t each = (ranks + nodes - 1) / nodes;
    if (nodes > 1) out.words.push_back(fmt::format("--ntasks-per-node={}", each));
    if (!gpus.empty()) {  // of each node
      const std::int64_t cards =
          place.cards_per_node > 0 ? std::min(each, place.cards_per_node) : each;
      out.words.push_back(fmt::format("--gres=gpu:{}", cards));
    }
    if (place.mpi == kNoMpi) {
      out.words.emplace_back("env");
      for (const std::string_view mark : kMarksOfSrun) {
        out.words.insert(out.words.end(), {"-u", std::string(mark)});
      }
    }
  }
  out.words.insert(out.words.end(), worker.begin(), worker.end());
  return out;
}

}  // namespace depthgrid
