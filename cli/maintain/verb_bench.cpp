#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/isa.hpp"
#include "core/base/subprocess.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/protocol/worker_command.hpp"

namespace depthgrid {
namespace {

/// Options without a default that only some benchmarks read.
struct OwnOption {
  const char* option;
  std::vector<std::string_view> of;
};

void check_options(const CommandLine& line, std::string_view what) {
  static const OwnOption kOwn[] = {
      {"store", {"decode"}}, {"cell", {"decode"}},
      {"only", {"kernels"}}, {"device", {"step", "optimiser", "forward", "decode"}},
      {"dump", {"step"}},    {"launches", {"step"}},
  };
  for (const OwnOption& own : kOwn) {
    if (!line.has(own.option) || std::ranges::find(own.of, what) != own.of.end()) continue;
    throw UserError(ExitCode::Usage,
                    fmt::format("bench {}: --{} is read by bench {} only: leave it out", what,
                                own.option, fmt::join(own.of, ", ")));
  }
}

}  // namespace

int bench_verb(const Arguments& arguments) {
  CommandLine line(
      "bench step|optimiser|journal|forward|decode|kernels [--family NAME] [--cells E] [--steps N] "
      "[--only TEXT] [--device WORD] [--launches] [--isa WORD] [--set KEY=VALUE]...",
      "step: times the training step of E fused cells. With --dump, writes the\n"
      "initial weights, the batches and the losses of the first steps for other programs.\n"
      "optimiser: times norms, clip and update of E cells of --parameters weights each.\n"
      "journal: times writing one training row of one cell, in the folder for temporary files.\n"
      "forward: times the parts of a forward pass, in random order.\n"
      "decode: times tokens of one sequence one by one, with caches and by recomputation.\n"
      "kernels: times each kernel of the CPU for each instruction set, beside LibTorch's product\n"
      "or a copy of as many bytes.");
  line.examples(
      {"bench step --family time_indexed --cells 8", "bench kernels --only affine --isa avx2"});
  line.argument("WHAT")
      .list("set", "KEY=VALUE", "a leaf of the configuration; repeatable")
      .text("family", "NAME", "model.family (default: time_indexed)")
      .number("cells", 1, "cells fused in one step")
      .number("parameters", 1000000, "optimiser: parameters of each cell")
      .number("steps", 50,
              "timed, after the warm-up (forward: repetitions, default 100; decode: tokens)")
      .text("store", "DIR", "decode: the store of --cell")
      .text("cell", "CELL", "decode: a trained cell whose layers skip tokens, on its own text")
      .text("only", "TEXT", "kernels: those whose name contains it")
      .text("device", "WORD", "step, optimiser, forward, decode: cpu (default) or cuda")
      .text("isa", "WORD", "avx512, avx2 or base: nothing above it, in LibTorch and MKL too")
      .text("dump", "DIR", "folder for weights, batches and losses")
      .flag("launches", "step: also kernels and copies of a step on a GPU, by LibTorch's profiler");
  if (!line.json().parse(arguments)) return 0;
  BenchCommand command;
  static constexpr std::string_view kKnown[] = {"step",    "optimiser", "journal",
                                                "forward", "decode",    "kernels"};
  command.what = line.required("WHAT", kKnown);
  check_options(line, command.what);
  if (line.has("family")) command.family = line.text_of("family");
  command.cells = line.number_of("cells");
  command.parameters = line.number_of("parameters");
  const bool repetitions = command.what == "forward" && !line.has("steps");
  command.steps = repetitions ? 100 : line.number_of("steps");
  command.dump = line.text_of("dump");
  command.set = line.list_of("set");
  command.json = line.has("json");
  command.launches = line.has("launches");
  command.only = line.text_of("only");
  if (line.has("device")) command.device = line.word_of("device", {"cpu", "cuda"});
  if (line.has("isa")) {
    const Isa isa = choose_isa("--isa", line.text_of("isa").c_str());
    for (const auto& [name, value] : variables_of(isa)) {
      setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
    }
  }
  if (line.has("cell")) command.from = weight_choice(line);
  become(worker_command("bench", command_json(command)));
}

}  // namespace depthgrid
