#include "sweeps/protocol/commands.hpp"

#include <array>
#include <set>
#include <string>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/base/enum_words.hpp"
#include "core/base/error.hpp"
#include "core/base/json_members.hpp"
#include "core/base/json_text.hpp"
#include "core/config/sweep.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

/// In the order of RunMode.
constexpr std::array<std::string_view, 4> kModes = {"run", "prepare", "launch", "apart"};

}  // namespace

// By name of the type, as the library asks for it.
static void to_json(Json& json, RunMode mode) {
  json = enum_word(kModes, mode);
}

static void from_json(const Json& json, RunMode& mode) {
  const std::string word = json;
  const auto known = enum_of<RunMode>(kModes, word);
  if (!known) throw Error("command: unknown mode " + word);
  mode = *known;
}

// The members of each command, as they follow each other in the text.

static constexpr auto members(const CellChoice*) {
  using O = CellChoice;
  return json_members("store", &O::store, "cell", &O::cell, "at", &O::at, "solver_steps",
                      &O::solver_steps, "solver_method", &O::solver_method, "control", &O::control);
}

static constexpr auto members(const RunCommand*) {
  using O = RunCommand;
  return json_members("file", &O::file, "store", &O::store, "set", &O::set, "yes", &O::yes,
                      "progress", &O::progress, "only", &O::only, "rerun", &O::rerun, "mode",
                      &O::mode, "cells", &O::cells, "board", &O::channel, "hang", &O::hang,
                      "shared_group", &O::shared_group);
}

static constexpr auto members(const BenchCommand*) {
  using O = BenchCommand;
  return json_members("what", &O::what, "family", &O::family, "cells", &O::cells, "parameters",
                      &O::parameters, "steps", &O::steps, "dump", &O::dump, "set", &O::set, "json",
                      &O::json, "from", &O::from, "only", &O::only, "device", &O::device,
                      "launches", &O::launches);
}

static constexpr auto members(const ExportCommand*) {
  using O = ExportCommand;
  return json_members("from", &O::from, "layout", &O::layout, "out", &O::out, "json", &O::json);
}

static constexpr auto members(const EvalCommand*) {
  using O = EvalCommand;
  return json_members("from", &O::from, "data", &O::data, "split", &O::split, "windows",
                      &O::windows, "by_position", &O::by_position, "json", &O::json, "modes",
                      &O::modes, "deciders", &O::deciders);
}

static constexpr auto members(const ProbeCommand*) {
  using O = ProbeCommand;
  return json_members("store", &O::store, "cells", &O::cells, "probes", &O::probes, "at", &O::at,
                      "set", &O::set, "control", &O::control, "command", &O::command, "json",
                      &O::json);
}

static constexpr auto members(const GenerateCommand*) {
  using O = GenerateCommand;
  return json_members("from", &O::from, "prompt", &O::prompt, "tokens", &O::tokens, "temperature",
                      &O::temperature, "top_k", &O::top_k, "top_p", &O::top_p, "seed", &O::seed,
                      "control", &O::control, "json", &O::json);
}

static constexpr auto members(const TokensCommand*) {
  using O = TokensCommand;
  return json_members("store", &O::store, "cell", &O::cell, "sequences", &O::sequences);
}

template <typename Command>
concept HasMembers = requires(const Command* command) { members(command); };

template <HasMembers Command>
static void to_json(Json& json, const Command& command) {
  put_members(json, command, members(&command));
}

template <HasMembers Command>
static void from_json(const Json& json, Command& command) {
  take_members(json, command, members(&command));
}

template <typename Command>
std::string command_json(const Command& command) {
  Json json = {{"schema", 1}};
  to_json(json, command);
  try {
    return strict_json_text(json);
  } catch (const nlohmann::json::type_error&) {
    if constexpr (std::is_same_v<Command, GenerateCommand>) {
      throw UserError(ExitCode::BadData, "--prompt is not UTF-8");
    }
    throw;
  }
}

template <typename Command>
Command parse_command(std::string_view text) {
  try {
    const Json json = parse_ordered_json(text);
    if (json.at("schema") != 1) {
      throw Error("command: unknown schema; are both programs from the same build?");
    }
    return json.get<Command>();
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("command: ") + e.what());
  }
}

template std::string command_json(const RunCommand&);
template RunCommand parse_command(std::string_view);
template std::string command_json(const BenchCommand&);
template BenchCommand parse_command(std::string_view);
template std::string command_json(const ExportCommand&);
template ExportCommand parse_command(std::string_view);
template std::string command_json(const EvalCommand&);
template EvalCommand parse_command(std::string_view);
template std::string command_json(const ProbeCommand&);
template ProbeCommand parse_command(std::string_view);
template std::string command_json(const GenerateCommand&);
template GenerateCommand parse_command(std::string_view);
template std::string command_json(const TokensCommand&);
template TokensCommand parse_command(std::string_view);

std::vector<const CellPlan*> first_of_each_structure(const std::vector<CellPlan>& cells) {
  std::vector<const CellPlan*> out;
  std::set<std::string_view> seen;
  for (const CellPlan& cell : cells) {
    if (seen.insert(cell.structure).second) out.push_back(&cell);
  }
  return out;
}

std::string structure_request(const std::vector<const CellPlan*>& cells,
                              const std::vector<std::pair<const char*, bool>>& flags) {
  Json structures = Json::array();
  for (const CellPlan* cell : cells) {
    structures.push_back(
        {{"structure", cell->structure}, {"config", parse_ordered_json(cell->config.json())}});
  }
  Json request = {{"schema", 1}};
  for (const auto& [flag, value] : flags) request[flag] = value;
  request["structures"] = std::move(structures);
  return json_text(request);
}

double hang_of(const CellConfig& run) {
  if (run.null("resources.hang")) return -1;
  return run.is_word("resources.hang") ? 0 : run.real("resources.hang");
}

}  // namespace depthgrid
