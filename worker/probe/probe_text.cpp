#include "worker/probe/probe_text.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/printable.hpp"
#include "storage/plan_sequence.hpp"
#include "worker/data_pool.hpp"
#include "worker/session/probe_tokens.hpp"

namespace depthgrid {
namespace {

std::string text_of_token(const Dataset& data, std::int64_t id) {
  if (!data.tokenizer || id >= data.tokenizer->vocab_size()) return std::to_string(id);
  return printable(data.tokenizer->decode(std::array{static_cast<std::uint32_t>(id)}));
}

}  // namespace

std::string probe_text(const CellConfig& config, const Dataset& data, std::int64_t sequences) {
  const ProbeSet set = probe_tokens(config, data);
  const auto* const ids = set.windows.const_data_ptr<std::int64_t>();
  nlohmann::ordered_json out = {{"schema", 1},
                                {"probe_set_sha256", probe_set_digest(config, data)},
                                {"sequences", nlohmann::ordered_json::array()}};
  for (std::int64_t s = 0; s < std::min(sequences, set.sequences()); ++s) {
    std::vector<std::string> texts;
    for (std::int64_t t = 0; t < set.tokens(); ++t) {
      texts.push_back(text_of_token(data, ids[s * (set.tokens() + 1) + t]));
    }
    out["sequences"].push_back(texts);
  }
  return json_text(out);
}

std::string probe_text(const TokensCommand& command) {
  const Store store = Store::open(command.store);
  const StoredPlan plan = read_plan(store);
  const auto cell = std::ranges::find(plan.cells, command.cell, &StoredCell::id);
  if (cell == plan.cells.end()) {
    throw UserError(ExitCode::Usage,
                    "the store has no cell " + command.cell + " in its newest plan");
  }
  const CellConfig config = resolved_config(plan, *cell);
  DataPool pool(store, DataPool::Use::Reading);
  return probe_text(config, *pool.open(config), command.sequences);
}

}  // namespace depthgrid
