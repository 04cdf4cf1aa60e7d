#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/subprocess.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/protocol/worker_command.hpp"

namespace depthgrid {
int generate_verb(const Arguments& arguments) {
  CommandLine line(
      "generate CELL [STORE] --prompt TEXT [--tokens N] [--temperature X] [--top-k K]\n"
      "                          [--top-p P] [--seed N] [--control U,…] [--solver-steps M]\n"
      "                          [--solver-method NAME] [--at STEP] [--json]",
      "Continues a text by tokens drawn one by one from a cell's model. The same seed gives\n"
      "the same text.");
  line.examples({"generate standard,s0 results/quickstart --prompt 'The '",
                 "generate standard,s0 results/quickstart --prompt 'The ' --temperature 0 "
                 "--tokens 200"});
  solver_options(weight_options(line))
      .text("prompt", "TEXT", "what to continue; numbers of tokens where the corpus has no text")
      .number("tokens", 100, "how many to add")
      .text("temperature", "X", "divides the logits (default 1); 0: the most probable token")
      .number("top-k", 0, "draw among the k most probable; 0: all")
      .text("top-p", "P", "draw among the most probable that sum to P (default 1)")
      .number("seed", 0, "of the draws")
      .text("control", "U,…",
            "control signal, a number for each axis; without it, model.control.u or none");
  if (!line.json().parse(arguments)) return 0;
  GenerateCommand command{.from = {}, .prompt = line.required("prompt")};
  command.from = weight_choice(line);
  command.tokens = line.number_of("tokens", 1);
  command.temperature = line.real_of("temperature", 1, 0);
  command.top_k = line.number_of("top-k", 0);
  command.top_p = line.real_of("top-p", 1, 0, 1);
  command.seed = line.number_of("seed", 0);
  command.control = control_signal(line);
  command.json = line.has("json");
  become(worker_command("generate", command_json(command)));
}

}  // namespace depthgrid
