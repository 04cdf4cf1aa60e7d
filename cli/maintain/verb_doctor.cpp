#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/machine.hpp"
#include "core/base/real_fs.hpp"
#include "core/base/scratch_folder.hpp"
#include "core/base/subprocess.hpp"
#include "core/config/schema.hpp"
#include "sweeps/doctor/doctor_report.hpp"
#include "sweeps/doctor/machine_checks.hpp"
#include "sweeps/doctor/rank_checks.hpp"
#include "sweeps/doctor/site_profile.hpp"
#include "sweeps/doctor/slurm_checks.hpp"
#include "sweeps/doctor/store_checks.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSiteMark = "# Written by `depthgrid doctor";

/// STORE or --store; empty if neither is given.
fs::path named_place(const CommandLine& line) {
  return line.text_of(line.has("STORE") ? "STORE" : "store");
}

/// The folder that is to be judged; a sweep file stands for its store.
fs::path judged_folder(const CommandLine& line) {
  const fs::path named = named_place(line);
  if (named.empty()) return real_fs().is_folder("results") ? "results" : ".";
  return real_fs().is_file(named) ? StoreArgument(line).folder : named;
}

/// Of the sweep file that is named, or the default.
std::int64_t signal_delay_of(const CommandLine& line) {
  constexpr const char* kLeaf = "slurm.signal_delay";
  if (real_fs().is_file(named_place(line))) {
    return StoreArgument(line).sweep->run.integer(kLeaf);
  }
  return std::atoll(std::string(schema()[find_leaf(kLeaf)].default_text).c_str());
}

/// @throws UserError if the file is somebody's own, or cannot be written.
void write_site(const fs::path& file, const std::string& text) {
  std::string first;
  std::ifstream before(file);
  if (before && std::getline(before, first) && !first.starts_with(kSiteMark)) {
    throw UserError(ExitCode::CantCreate,
                    file.string() + " is not from doctor: remove it, or name another file");
  }
  std::ofstream out(file);
  if (!(out << text) || !out.flush()) {
    throw UserError(ExitCode::CantCreate, file.string() + ": cannot be written");
  }
}

void append_findings(std::vector<Finding>& all, const std::vector<Finding>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

int doctor_verb(const Arguments& arguments) {
  CommandLine line(
      "doctor [STORE] [--site FILE] [--json]",
      "Inspects the store's file system, this machine, MPI, GPUs and Slurm, and says what to do\n"
      "about each problem. Two ranks train a very small model in a folder that goes away.\n"
      "Returns 1 if there is a problem.");
  line.examples({"doctor", "doctor results/tiny --json", "doctor --site cluster.yaml"});
  store_options(line).text("site", "FILE",
                           "write what Slurm offers as a file for `base:` of sweeps");
  if (!line.json().parse(arguments)) return 0;
  const CommandRunner run = real_commands();
  const ScratchFolder folder;
  const Machine machine = this_machine();
  const RankTrial trial{program_beside("depthgrid"), folder.path(), geteuid() == 0};
  std::vector<Finding> findings = store_findings(judged_folder(line), named_place(line).empty());
  append_findings(findings, machine_findings(machine));
  append_findings(findings, mpi_findings(trial, run));
  append_findings(findings, gpu_findings(machine, trial, run));
  const std::optional<SlurmFacts> slurm = slurm_facts(run, findings);
  if (slurm) append_findings(findings, slurm_findings(*slurm, signal_delay_of(line)));
  print(line.has("json") ? doctor_json(findings) : doctor_text(findings, colour_of_stdout()));
  if (line.has("site")) {
    if (!slurm) {
      throw UserError(ExitCode::BadConfig,
                      "--site: Slurm does not answer here; nothing was written");
    }
    write_site(line.text_of("site"), site_profile(*slurm));
  }
  return number_of(has_problem(findings) ? ExitCode::Failed : ExitCode::Done);
}

}  // namespace depthgrid
