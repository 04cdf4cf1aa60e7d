#include "sweeps/orders/orders.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/config/sweep.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kModes[] = {"run", "prepare", "launch", "apart"};  // in the order of RunMode

}  // namespace

// By name of the type, as the library asks for it.
static void to_json(Json& json, RunMode mode) {
  json = kModes[static_cast<std::size_t>(mode)];
}

static void from_json(const Json& json, RunMode& mode) {
  const std::string word = json;
  const auto* const known = std::ranges::find(kModes, word);
  if (known == std::end(kModes)) throw Error("order: unknown mode " + word);
  mode = static_cast<RunMode>(known - std::begin(kModes));
}

// The members of each order, as they follow each other in the text.

static constexpr auto members(const CellChoice*) {
  using O = CellChoice;
  return std::tuple(std::pair("store", &O::store), std::pair("cell", &O::cell),
                    std::pair("at", &O::at));
}

static constexpr auto members(const RunOrder*) {
  using O = RunOrder;
  return std::tuple(std::pair("file", &O::file), std::pair("store", &O::store),
                    std::pair("set", &O::set), std::pair("yes", &O::yes),
                    std::pair("progress", &O::progress), std::pair("only", &O::only),
                    std::pair("rerun", &O::rerun), std::pair("mode", &O::mode),
                    std::pair("cells", &O::cells), std::pair("board", &O::board),
                    std::pair("hang", &O::hang), std::pair("shared_group", &O::shared_group));
}

static constexpr auto members(const BenchOrder*) {
  using O = BenchOrder;
  return std::tuple(std::pair("what", &O::what), std::pair("family", &O::family),
                    std::pair("cells", &O::cells), std::pair("parameters", &O::parameters),
                    std::pair("steps", &O::steps), std::pair("dump", &O::dump),
                    std::pair("set", &O::set), std::pair("json", &O::json),
                    std::pair("from", &O::from), std::pair("only", &O::only),
                    std::pair("device", &O::device), std::pair("launches", &O::launches));
}

static constexpr auto members(const ExportOrder*) {
  using O = ExportOrder;
  return std::tuple(std::pair("from", &O::from), std::pair("layout", &O::layout),
                    std::pair("out", &O::out), std::pair("json", &O::json));
}

static constexpr auto members(const EvalOrder*) {
  using O = EvalOrder;
  return std::tuple(std::pair("from", &O::from), std::pair("data", &O::data),
                    std::pair("split", &O::split), std::pair("windows", &O::windows),
                    std::pair("by_position", &O::by_position), std::pair("json", &O::json),
                    std::pair("modes", &O::modes), std::pair("deciders", &O::deciders));
}

static constexpr auto members(const ProbeOrder*) {
  using O = ProbeOrder;
  return std::tuple(std::pair("store", &O::store), std::pair("cells", &O::cells),
                    std::pair("probes", &O::probes), std::pair("at", &O::at),
                    std::pair("set", &O::set), std::pair("command", &O::command),
                    std::pair("json", &O::json));
}

static constexpr auto members(const GenerateOrder*) {
  using O = GenerateOrder;
  return std::tuple(std::pair("from", &O::from), std::pair("prompt", &O::prompt),
                    std::pair("tokens", &O::tokens), std::pair("temperature", &O::temperature),
                    std::pair("top_k", &O::top_k), std::pair("top_p", &O::top_p),
                    std::pair("seed", &O::seed), std::pair("control", &O::control),
                    std::pair("json", &O::json));
}

static constexpr auto members(const TokensOrder*) {
  using O = TokensOrder;
  return std::tuple(std::pair("store", &O::store), std::pair("cell", &O::cell),
                    std::pair("sequences", &O::sequences));
}

template <typename Order>
concept HasMembers = requires(const Order* order) { members(order); };

template <HasMembers Order>
static void to_json(Json& json, const Order& order) {
  std::apply([&](const auto&... m) { ((json[m.first] = order.*m.second), ...); }, members(&order));
}

template <HasMembers Order>
static void from_json(const Json& json, Order& order) {
  std::apply([&](const auto&... m) { (json.at(m.first).get_to(order.*m.second), ...); },
             members(&order));
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
  return run.is_word("resources.hang") ? 0 : static_cast<double>(run.integer("resources.hang"));
}

}  // namespace depthgrid
