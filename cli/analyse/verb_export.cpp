#include <filesystem>
#include <system_error>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/protocol/worker_command.hpp"

namespace depthgrid {
namespace {

/// @throws UserError (CantCreate) for a name that the filesystem refuses.
void require_writable_name(const std::string& out) {
  std::error_code problem;
  const auto type = std::filesystem::status(out, problem).type();
  if (type != std::filesystem::file_type::none) return;
  throw UserError(ExitCode::CantCreate,
                  "--out " + out + ": cannot be written: " + problem.message());
}

}  // namespace

int export_verb(const Arguments& arguments) {
  CommandLine line(
      "export CELL [STORE] --out PATH [--layout native|hf-gpt2] [--at STEP] [--json]",
      "Writes the weights of a cell as safetensors. native: one file, the names of the\n"
      "parameters. hf-gpt2: a folder that transformers reads as GPT2LMHeadModel.");
  line.examples({"export hidden=4,s0 results/tiny --out weights.safetensors",
                 "export hidden=4,s0 results/tiny --at best --out best.safetensors"});
  weight_options(line)
      .text("out", "PATH", "file (native) or folder (hf-gpt2)")
      .text("layout", "NAME", "native (default) or hf-gpt2");
  if (!line.json().parse(arguments)) return 0;
  ExportCommand command{.from = {}, .out = line.required("out"), .json = line.has("json")};
  require_writable_name(command.out);
  command.from = weight_choice(line);
  if (line.has("layout")) command.layout = line.text_of("layout");
  become(worker_command("export", command_json(command)));
}

}  // namespace depthgrid
