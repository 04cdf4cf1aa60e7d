#include <string>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/subprocess.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/protocol/worker_command.hpp"

namespace depthgrid {
int eval_verb(const Arguments& arguments) {
  CommandLine line(
      "eval CELL [STORE] [--data DATA] [--split NAME] [--windows N] [--mode MODE]…\n"
      "               [--decider NAME]… [--solver-steps M] [--solver-method NAME] [--at STEP]\n"
      "               [--json]",
      "Mean loss, perplexity and bits per byte of a cell's weights on a split of its own\n"
      "corpus, of another one, or on a text file, by the cell's evaluation settings.");
  line.examples({"eval hidden=4,s0 results/tiny",
                 "eval 9867 results/tiny --windows 64 --by-position --json"});
  solver_options(weight_options(line))
      .text("data", "DATA", "wikitext-2, tiny-shakespeare, self or a text file (default: its own)")
      .text("split", "NAME", "train, dev, valid (default) or test of a corpus")
      .number("windows", 0, "number of windows, evenly spaced; 0: all")
      .list("mode", "MODE",
            "dense, teacher_topk, teacher_threshold, student, random, skip_all, or all")
      .list("decider", "NAME", "of mode student: threshold, calibrated or running_topk")
      .flag("by-position", "losses by position too");
  if (!line.json().parse(arguments)) return 0;
  EvalCommand command{.from = weight_choice(line),
                      .data = line.text_of("data"),
                      .windows = line.number_of("windows", 0),
                      .by_position = line.has("by-position"),
                      .json = line.has("json")};
  command.modes = line.words_of("mode");
  command.deciders = line.words_of("decider");
  if (line.has("split")) command.split = line.text_of("split");
  become(worker_command("eval", command_json(command)));
}

}  // namespace depthgrid
