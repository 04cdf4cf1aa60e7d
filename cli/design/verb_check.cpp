#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/command.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "sweeps/protocol/sweep_of_model.hpp"
#include "sweeps/protocol/worker_command.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

/// Options that become members of a case: words, numbers, and lists of numbers.
constexpr const char* kWordOptions[] = {"mode", "decider", "dtype"};
constexpr const char* kNumberOptions[] = {"seed",    "rows",    "length",
                                          "prefill", "samples", "threshold"};

Json number_of_option(const CommandLine& line, const char* name, const std::string& text) {
  const Json value = parse_ordered_json_or_discard(text);
  const bool numbers =
      value.is_number() ||
      (value.is_array() && std::ranges::all_of(value, [](const Json& j) { return j.is_number(); }));
  if (!numbers) {
    throw UserError(ExitCode::Usage,
                    fmt::format("--{} is {}; expected a number", name, line.text_of(name)));
  }
  return value;
}

Json defaults_of(const CommandLine& line) {
  Json out = Json::object();
  for (const char* name : kWordOptions) {
    if (line.has(name)) out[name] = line.text_of(name);
  }
  for (const char* name : kNumberOptions) {
    if (line.has(name)) out[name] = number_of_option(line, name, line.text_of(name));
  }
  if (line.has("chunks")) {
    out["chunks"] = number_of_option(line, "chunks", "[" + line.text_of("chunks") + "]");
  }
  if (line.has("dump")) out["dump"] = true;
  return out;
}

Json input_of(const CommandLine& line) {
  const std::string file = line.text_of("input");
  if (file.empty()) return Json::object();
  std::string text;
  if (file == "-") {
    text = {std::istreambuf_iterator<char>(std::cin), {}};
  } else {
    std::ifstream in(file, std::ios::binary);
    if (!std::filesystem::is_regular_file(file) || !in) {
      throw UserError(ExitCode::NoInput, "--input " + file + ": there is no such file");
    }
    text = {std::istreambuf_iterator<char>(in), {}};
  }
  try {
    return parse_ordered_json(text);
  } catch (const nlohmann::json::exception& e) {
    throw UserError(ExitCode::BadData, fmt::format("--input {}: no JSON: {}", file, e.what()));
  }
}

/// Adds the model to the request: a cell with its weights, or untrained cells.
void add_model(const CommandLine& line, Json& request) {
  const bool stored = names_weights(line);
  if (int{stored} + int{line.has("family")} + int{line.has("preset")} != 1) {
    throw UserError(ExitCode::Usage,
                    "check: name a model: CELL (of STORE), --family NAME or --preset NAME, "
                    "one of them");
  }
  if (stored) {
    const CellChoice from = weight_choice(line);
    request["from"] = {{"store", from.store},
                       {"cell", from.cell},
                       {"at", from.at},
                       {"solver_steps", from.solver_steps},
                       {"solver_method", from.solver_method}};
    return;
  }
  for (const char* option : {"solver-steps", "solver-method"}) {
    if (!line.has(option)) continue;
    throw UserError(
        ExitCode::Usage,
        fmt::format("check: --{} solves a trained flow otherwise, and needs CELL; of an "
                    "untrained model set `model.solver.{}` with --set",
                    option, std::string(option).substr(7)));
  }
  const char* const leaf = line.has("family") ? "family" : "preset";
  const Sweep sweep = sweep_of_model(leaf, line.text_of(leaf), line.list_of("set"));
  for (const CellPlan& cell : sweep.cells) {
    request["cells"].push_back(
        {{"alias", cell.alias}, {"config", parse_ordered_json(cell.config.json())}});
  }
}

}  // namespace

int check_verb(const Arguments& arguments) {
  CommandLine line(
      "check gate|forward|decode|gradcheck [CELL [STORE] | --family NAME | --preset NAME]\n"
      "                       [--set KEY=VALUE]... [--input FILE|-] [options]",
      "Computes one thing from outside and prints every number of it as JSON.\n"
      "gate: surprise, criteria, gate and choice of given residuals, and gradients of the gate.\n"
      "forward: a pass over whole sequences in one mode of execution.\n"
      "decode: the same with caches, tokens coming in pieces, and how far it is from one pass.\n"
      "gradcheck: autograd of the training loss against differences in float64. Exit 1 if wrong.");
  line.examples({"check forward --family tdt --mode teacher_topk --length 16",
                 "check gradcheck hidden=4,s0 results/tiny"});
  line.argument("WHAT");
  solver_options(weight_options(line))
      .text("family", "NAME", "an untrained model: model.family with its defaults and --set")
      .text("preset", "NAME", "the same of model.preset")
      .text("input", "FILE", "JSON of what is computed, or of several cases; -: stdin")
      .text("mode", "MODE",
            "dense, teacher_topk, teacher_threshold, student, random, skip_all, forced, training")
      .text("decider", "NAME", "of mode student: threshold, calibrated, running_topk or forced")
      .text("dtype", "TYPE", "f32 (default), f64 or bf16; the weights are those of f32")
      .text("seed", "N", "of start values and random tokens")
      .text("rows", "N", "random sequences (default 2)")
      .text("length", "N", "their tokens (default data.seq_len; gradcheck: 16)")
      .flag("dump", "logits, states, masks, router logits and signals too")
      .text("prefill", "N", "decode: tokens that come at once, first")
      .text("chunks", "N,N...", "decode: sizes of the pieces after that; the rest comes one by one")
      .text("samples", "N", "gradcheck: elements per tensor (default 2)")
      .text("threshold", "X", "gradcheck: largest relative error (default 1e-4)");
  if (!line.parse(arguments)) return 0;
  static constexpr std::string_view kKnown[] = {"gate", "forward", "decode", "gradcheck"};
  const std::string what = line.required("WHAT", kKnown);
  Json request = {{"schema", 1},
                  {"what", what},
                  {"defaults", defaults_of(line)},
                  {"input", input_of(line)},
                  {"cells", Json::array()},
                  {"from", nullptr}};
  if (what != "gate") add_model(line, request);
  const CommandAnswer answer = ask(own_question(worker_command("check")), json_text(request));
  print(answer.out);
  return answer.code;
}

}  // namespace depthgrid
