#include "sweeps/slurm/batch_script.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/config/text_form.hpp"
#include "sweeps/launch/card_capacity.hpp"

namespace depthgrid {
namespace {

/// The signal may come up to a minute early.
constexpr std::int64_t kSignalMargin = 60;

struct WordOption {
  std::string_view leaf, option;
};
constexpr WordOption kWordOptions[] = {
    {"slurm.partition", "partition"},
    {"slurm.account", "account"},
    {"slurm.qos", "qos"},
    {"slurm.constraint", "constraint"},
    {"slurm.reservation", "reservation"},
    {"slurm.nodelist", "nodelist"},
    {"slurm.mail_type", "mail-type"},
    {"slurm.mail_user", "mail-user"},
};

std::string word_in(const CellConfig& run, std::string_view leaf) {
  return run.null(leaf) ? "" : run.word(leaf);
}

std::int64_t threads_of(const CellConfig& run) {
  return run.integer_if("resources.threads").value_or(1);
}

/// A path in single quotes, for bash and for sbatch alike.
std::string quoted(const std::string& path) {
  require_script_path(path);
  return "'" + path + "'";
}

/// sbatch replaces %A and the like in the name of an output; %% is a per cent sign.
std::string doubled_percents(std::string_view path) {
  std::string out;
  for (const char c : path) out.append(c == '%' ? 2 : 1, c);
  return out;
}

}  // namespace

void require_script_path(const std::string& path) {
  if (path.find_first_of("'\"\\$`\n\r") == path.npos) return;
  throw UserError(ExitCode::Usage,
                  path +
                      ": a batch script cannot hold a path with quotes, backslashes, $ or line "
                      "breaks; use another folder");
}

TaskRequest task_request(const CellConfig& run, const std::vector<std::string>& faulty,
                         std::int64_t ranks, std::optional<std::int64_t> seconds) {
  TaskRequest out;
  const std::int64_t threads = threads_of(run);
  if (ranks == 0) {
    ranks = run.is_word("resources.ranks_per_job") ? 1 : run.integer("resources.ranks_per_job");
  }
  const std::string device = run.word("resources.device");
  out.nodes = run.integer("resources.nodes");
  if (device != "cpu") {
    out.gpus = run.integer_if("resources.gpus").value_or(device == "cuda" ? 1 : 0);
  }
  const std::int64_t on_node = (ranks + out.nodes - 1) / out.nodes;
  if (out.gpus > 0 && run.null("resources.gpus")) out.gpus = on_node;
  const std::int64_t beside = run.integer_if("resources.cpus_per_gpu").value_or(threads);
  out.cores = out.gpus > 0 ? out.gpus * beside : on_node * threads;
  out.slots = std::max(
      ranks, out.nodes * (out.gpus > 0 ? out.gpus * launches_per_card(run) : out.cores / threads));
  out.memory = word_in(run, "resources.mem");
  out.time = run.word("resources.time");
  out.time_seconds = seconds ? *seconds : seconds_of(out.time).value_or(0);
  out.parallel = run.integer_if("slurm.array_parallelism").value_or(0);
  out.signal_seconds = run.integer("slurm.signal_delay") + kSignalMargin;
  if (out.time_seconds > 0) {  // else short tasks would be stopped as soon as they start
    out.signal_seconds = std::min(out.signal_seconds, out.time_seconds / 2);
  }
  out.requeue = run.flag("slurm.requeue");
  const auto ask = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) out.options.push_back(fmt::format("--{}={}", option, value));
  };
  for (const auto& [leaf, option] : kWordOptions) ask(option, word_in(run, leaf));
  const std::string gres = word_in(run, "slurm.gres");
  ask("gres", gres.empty() && out.gpus > 0 ? fmt::format("gpu:{}", out.gpus) : gres);
  std::vector<std::string> left_out = run.words("slurm.exclude");
  for (const std::string& node : faulty) {
    if (std::ranges::find(left_out, node) == left_out.end()) left_out.push_back(node);
  }
  ask("exclude", fmt::format("{}", fmt::join(left_out, ",")));
  if (!run.null("slurm.nice")) ask("nice", std::to_string(run.integer("slurm.nice")));
  for (const std::string& word : run.words("slurm.extra")) out.options.push_back(word);
  return out;
}

std::int64_t most_ranks(const CellConfig& run, std::int64_t cores, std::int64_t gpus) {
  std::int64_t on_node = std::max<std::int64_t>(1, cores / threads_of(run));
  const std::string device = run.word("resources.device");
  if (device == "cuda") on_node = std::max<std::int64_t>(1, gpus);
  if (device != "cpu" && !run.null("resources.gpus") && run.integer("resources.gpus") > 0) {
    on_node = run.integer("resources.gpus");
  }
  return run.integer("resources.nodes") * on_node;
}

std::string batch_script(const TaskRequest& request, const BatchArray& array) {
  std::string out = "#!/bin/bash\n";
  const auto option = [&](const std::string& text) { out += "#SBATCH " + text + "\n"; };
  option("--job-name=" + array.name);
  option("--comment=" + array.comment);
  option(fmt::format("--array=0-{}{}", array.tasks - 1,
                     array.parallel > 0 ? fmt::format("%{}", array.parallel) : ""));
  option(fmt::format("--nodes={}", request.nodes));
  option(fmt::format("--ntasks-per-node={}", 1));
  option(fmt::format("--cpus-per-task={}", request.cores));
  if (!request.memory.empty()) option("--mem=" + request.memory);
  option("--time=" + request.time);
  for (const std::string& word : request.options) option(word);
  if (!array.dependency.empty()) {
    option("--dependency=" + array.dependency);
    option("--kill-on-invalid-dep=yes");
  }
  option(request.requeue ? "--requeue" : "--no-requeue");
  option(fmt::format("--signal=B:USR1@{}", request.signal_seconds));
  option("--open-mode=append");
  option("--chdir=" + quoted(array.store));
  option("--output=" + quoted(doubled_percents(array.log_folder) + "/%A_%a.out"));
  out += fmt::format(
      "# Written by depthgrid submit. The cells of each task stand in the file of tasks.\n"
      "set -u\n"
      "# What asks for a stop before depthgrid listens is kept until it does.\n"
      "asked=\n"
      "trap 'asked=USR1' USR1; trap 'asked=USR2' USR2; trap 'asked=TERM' TERM\n"
      "# Slurm starts a script whose folder is missing in /tmp.\n"
      "cd {} || exit {}\n"
      "export DEPTHGRID_TASK_OFFSET={}\n"
      "export SRUN_CPUS_PER_TASK=\"${{SLURM_CPUS_PER_TASK:-1}}\"\n"
      "keep=(env \"--default-signal=USR1,USR2,TERM\" \"--block-signal=USR1,USR2,TERM\")\n"
      "\"${{keep[@]}}\" true 2>/dev/null || keep=(env)\n"
      "trap '' USR1 USR2 TERM\n"
      "exec \"${{keep[@]}}\" DEPTHGRID_ASKED=\"$asked\" {} supervise {} --store {} --yes -j {} "
      "--tasks {}{}\n",
      quoted(array.store), static_cast<int>(ExitCode::CantCreate), array.offset,
      quoted(array.program), quoted(array.sweep), quoted(array.store), request.slots,
      quoted(array.task_file), request.requeue ? " --requeue" : "");
  return out;
}

}  // namespace depthgrid
