#include "sweeps/doctor/rank_checks.hpp"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/clock.hpp"
#include "sweeps/doctor/gpu_links.hpp"

namespace depthgrid {
namespace {

constexpr double kAnswer = 10;  // s that a listing may take
constexpr double kTraining = 120;
constexpr const char* kBetweenGpus = "NCCL between GPUs";

/// One very small cell, a few steps.
constexpr const char* kTrialSweep = R"(name: trial
model: {family: time_indexed, d_model: 8, n_layers: 1, n_heads: 1}
data: {corpus: synthetic:markov, synthetic: {vocab_size: 8, tokens: 2000}, seq_len: 8}
train: {steps: 2, batch_size: 2}
eval: {windows: 2, final_windows: 2}
)";

std::string first_line(const CommandAnswer& answer) {
  return answer.out.substr(0, answer.out.find('\n'));
}

/// A run of the trial's sweep. @param options  of `run`.
std::vector<std::string> trial_command(const RankTrial& trial, const std::string& store,
                                       std::vector<std::string> before,
                                       const std::vector<std::string>& options) {
  const std::filesystem::path sweep = trial.folder / "trial.yaml";
  std::ofstream(sweep) << kTrialSweep;
  std::vector<std::string> out = std::move(before);
  out.insert(out.end(), {trial.program.string(), "run", sweep.string(), "--store",
                         (trial.folder / store).string(), "-q"});
  out.insert(out.end(), options.begin(), options.end());
  return out;
}

/// Two ranks that train one cell together. Root and a single core are reported elsewhere; here
/// the question is whether ranks find each other.
CommandAnswer two_ranks(const RankTrial& trial, const CommandRunner& run, const std::string& device,
                        const std::string& store) {
  return run(
      trial_command(trial, store,
                    {"env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                     "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_mpi_yield_when_idle=1",
                     "mpirun", "-q", "-np", "2"},
                    {"--set", "resources.ranks_per_job=2", "--set", "resources.device=" + device}),
      kTraining);
}

Finding trained(const std::string& what, const CommandAnswer& answer, double seconds,
                const std::string& cure) {
  Finding out{.what = what, .seen = fmt::format("trained a small model in {:.1f} s", seconds)};
  if (answer.code == 0) return out;
  out.seen = answer.late ? fmt::format("no end after {:.0f} s", kTraining)
                         : fmt::format("ended with code {}: {}", answer.code, last_words(answer));
  return out.problem(cure);
}

Finding root_finding(bool root) {
  const char* const allowed = std::getenv("OMPI_ALLOW_RUN_AS_ROOT");
  Finding out{.what = "user", .seen = root ? "root" : "not root"};
  if (!root) return out;
  if (allowed != nullptr) {
    out.seen += ", with leave for mpirun";
    return out;
  }
  return out.warning(
      "mpirun refuses root: use another user, or export OMPI_ALLOW_RUN_AS_ROOT=1 "
      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
}

std::filesystem::path plugin_of(const RankTrial& trial) {
  return trial.program.parent_path() / "libdepthgrid_cuda.so";
}

Finding not_tried(const std::string& why) {
  return {.what = kBetweenGpus, .seen = "not tried: " + why};
}

/// A rank on each of two cards makes the NCCL communicator that teams of several GPUs use.
Finding nccl_between_gpus(const RankTrial& trial, const CommandRunner& run) {
  const Stopwatch clock;
  const CommandAnswer two = two_ranks(trial, run, "cuda", "cards");
  if (two.code == 127) return not_tried("mpirun not found");
  if (two.code == 0 && (two.err + two.out).find("share the GPU") != std::string::npos) {
    return not_tried("both ranks were given one card");
  }
  return trained(
      kBetweenGpus, two, clock.seconds(),
      "if two ranks train without GPUs, this is NCCL's: NCCL_DEBUG=INFO mpirun -np 2 depthgrid run "
      "FILE --set resources.ranks_per_job=2 shows what it lacks or waits for; often a larger "
      "/dev/shm, NCCL_P2P_DISABLE=1 (cards that cannot read each other's memory) or "
      "NCCL_SOCKET_IFNAME=lo helps. Until then one GPU for each cell: resources.ranks_per_job: 1");
}

Finding nccl_of_plugin(const RankTrial& trial, const CommandRunner& run, bool needed) {
  const std::filesystem::path plugin = plugin_of(trial);
  if (access(plugin.c_str(), R_OK) != 0) {
    return {.what = "NCCL", .seen = "skipped: built without CUDA"};
  }
  return nccl_finding(run({"ldd", plugin.string()}, kAnswer).out, needed, nccl_version_of);
}

}  // namespace

std::vector<Finding> mpi_findings(const RankTrial& trial, const CommandRunner& run) {
  std::vector<Finding> out;
  const bool worker = access((trial.program.parent_path() / "depthgrid-worker").c_str(), X_OK) == 0;
  if (!worker) {
    out.push_back({"worker", FindingLevel::Problem, "depthgrid-worker is not beside depthgrid",
                   "build or install both programs into one folder"});
  }
  const CommandAnswer version = run({"mpirun", "--version"}, kAnswer);
  if (version.code != 0) {
    out.push_back({"mpirun", FindingLevel::Warning,
                   version.code == 127 ? "not found" : last_words(version),
                   "one rank at a time works; for more install Open MPI (Debian: openmpi-bin), or "
                   "load its module"});
    return out;
  }
  out.push_back({.what = "mpirun", .seen = first_line(version)});
  out.push_back(root_finding(trial.root));
  if (!worker) return out;
  const Stopwatch clock;
  const CommandAnswer two = two_ranks(trial, run, "cpu", "ranks");
  out.push_back(trained("two ranks", two, clock.seconds(),
                        "try `mpirun -np 2 hostname`; in a container without a network, "
                        "OMPI_MCA_btl=self,vader; docs/troubleshooting.md"));
  return out;
}

std::vector<Finding> gpu_findings(const Machine& machine, const RankTrial& trial,
                                  const CommandRunner& run) {
  if (machine.gpus.empty()) {
    return {{.what = "GPUs", .seen = "none visible: cells train on the CPU"},
            {.what = "GPU peer access", .seen = "skipped: no GPU"},
            nccl_of_plugin(trial, run, false),
            not_tried("no GPU")};
  }
  std::vector<Finding> out;
  const CommandAnswer cards =
      run({"nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"},
          kAnswer);
  Finding found{.what = "GPUs",
                .seen = fmt::format("{} visible: {}", machine.gpus.size(), first_line(cards))};
  if (cards.code != 0) {
    found.seen = fmt::format("{} visible, nvidia-smi: {}", machine.gpus.size(),
                             cards.code == 127 ? "not found" : last_words(cards));
    found =
        found.problem("the driver does not answer: drain the node, or set resources.device: cpu");
  }
  out.push_back(found);
  if (machine.gpus.size() > 1 && cards.code == 0) {
    out.push_back(links_finding(run({"nvidia-smi", "topo", "-m"}, kAnswer).out));
    out.push_back(peer_finding(run({"nvidia-smi", "topo", "-p2p", "r"}, kAnswer).out));
  }
  if (access(plugin_of(trial).c_str(), R_OK) != 0) {
    out.push_back({"CUDA and NCCL", FindingLevel::Problem,
                   "libdepthgrid_cuda.so is not beside depthgrid",
                   "build with CUDA (docs/troubleshooting.md), or set resources.device: cpu"});
    out.push_back(not_tried("built without CUDA"));
    return out;
  }
  out.push_back(nccl_of_plugin(trial, run, true));
  const Stopwatch clock;
  const CommandAnswer one =
      run(trial_command(trial, "card", {}, {"--set", "resources.device=cuda"}), kTraining);
  out.push_back(trained("CUDA and NCCL", one, clock.seconds(),
                        "the plug-in is loaded with CUDA and NCCL: its error names the library "
                        "that is missing or too old"));
  if (machine.gpus.size() < 2) {
    out.push_back(not_tried("one GPU"));
  } else if (one.code != 0) {
    out.push_back(not_tried("a GPU alone does not train"));
  } else {
    out.push_back(nccl_between_gpus(trial, run));
  }
  return out;
}

}  // namespace depthgrid
