#include "sweeps/orders/orders.hpp"

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
  if (!known) throw Error("order: unknown mode " + word);
  mode = *known;
}

// The members of each order, as they follow each other in the text.

static constexpr auto members(const CellChoice*) {
  using O = CellChoice;
  return json_members("store", &O::store, "cell", &O::cell, "at", &O::at);
}

static constexpr auto members(const RunOrder*) {
  using O = RunOrder;
  return json_members("file", &O::file, "store", &O::store, "set", &O::set, "yes", &O::yes,
                      "progress", &O::progress, "only", &O::only, "rerun", &O::rerun, "mode",
                      &O::mode, "cells", &O::cells, "board", &O::channel, "hang", &O::hang,
                      "shared_group", &O::shared_group);
}

static constexpr auto members(const BenchOrder*) {
  using O = BenchOrder;
  return json_members("what", &O::what, "family", &O::family, "cells", &O::cells, "parameters",
                      &O::parameters, "steps", &O::steps, "dump", &O::dump, "set", &O::set, "json",
                      &O::json, "from", &O::from, "only", &O::only, "device", &O::device,
                      "launches", &O::launches);
}

static constexpr auto members(const ExportOrder*) {
  using O = ExportOrder;
  return json_members("from", &O::from, "layout", &O::layout, "out", &O::out, "json", &O::json);
}

static constexpr auto members(const EvalOrder*) {
  using O = EvalOrder;
  return json_members("from", &O::from, "data", &O::data, "split", &O::split, "windows",
                      &O::windows, "by_position", &O::by_position, "json", &O::json, "modes",
                      &O::modes, "deciders", &O::deciders);
}

static constexpr auto members(const ProbeOrder*) {
  using O = ProbeOrder;
  return json_members("store", &O::store, "cells", &O::cells, "probes", &O::probes, "at", &O::at,
                      "set", &O::set, "command", &O::command, "json", &O::json);
}

static constexpr auto members(const GenerateOrder*) {
  using O = GenerateOrder;
  return json_members("from", &O::from, "prompt", &O::prompt, "tokens", &O::tokens, "temperature",
                      &O::temperature, "top_k", &O::top_k, "top_p", &O::top_p, "seed", &O::seed,
                      "control", &O::control, "json", &O::json);
}

static constexpr auto members(const TokensOrder*) {
  using O = TokensOrder;
  return json_members("store", &O::store, "cell", &O::cell, "sequences", &O::sequences);
}

template <typename Order>
concept HasMembers = requires(const Order* order) { members(order); };

template <HasMembers Order>
static void to_json(Json& json, const Order& order) {
  put_members(json, order, members(&order));
}

template <HasMembers Order>
static void from_json(const Json& json, Order& order) {
  take_members(json, order, members(&order));
}

template <typename Order>
std::string order_text(const Order& order) {
  Json json = {{"schema", 1}};
  to_json(json, order);
  try {
    return strict_json_text(json);
  } catch (const nlohmann::json::type_error&) {
    if constexpr (std::is_same_v<Order, GenerateOrder>) {
      throw UserError(ExitCode::BadData, "--prompt is not UTF-8");
    }
    throw;
  }
}

template <typename Order>
Order parse_order(std::string_view text) {
  try {
    const Json json = parse_ordered_json(text);
    if (json.at("schema") != 1) {
      throw Error("order: unknown schema; are both programs from the same build?");
    }
    return json.get<Order>();
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("order: ") + e.what());
  }
}

template std::string order_text(const RunOrder&);
template RunOrder parse_order(std::string_view);
template std::string order_text(const BenchOrder&);
template BenchOrder parse_order(std::string_view);
template std::string order_text(const ExportOrder&);
template ExportOrder parse_order(std::string_view);
template std::string order_text(const EvalOrder&);
template EvalOrder parse_order(std::string_view);
template std::string order_text(const ProbeOrder&);
template ProbeOrder parse_order(std::string_view);
template std::string order_text(const GenerateOrder&);
template GenerateOrder parse_order(std::string_view);
template std::string order_text(const TokensOrder&);
template TokensOrder parse_order(std::string_view);

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
