#include "worker/data_cards.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/config/schema.hpp"
#include "storage/plan_sequence.hpp"

namespace depthgrid {
namespace {

/// The name until format 2.0: of all leaves of `data`.
std::string former_name(const CellConfig& config) {
  std::string key = canonical_json(config.at("model.vocab_size"));
  for (const Leaf& leaf : schema()) {
    if (!leaf.path.starts_with("data.") || leaf.path == "data.seed") continue;
    if (leaf.path == "data.format" && config.word(leaf.path) == "auto") continue;  // as before it
    key += "\n";
    append_canonical_json(key, config.at(leaf.path));
  }
  return data_card_of_key(key);
}

/// What of a cell of a plan decides its names.
std::string differing_data(const StoredCell& cell) {
  ValueMap out;
  for (const auto& [path, value] : cell.varying) {
    if (path.starts_with("data.") || path == "model.vocab_size") out.emplace_back(path, value);
  }
  return canonical_json(Value(out));
}

bool has_cards(const Store& store) {
  std::error_code absent;
  for (std::filesystem::directory_iterator it(store.root() / "texts", absent), end;
       !absent && it != end; it.increment(absent)) {
    if (it->path().filename().string().starts_with("data-")) return true;
  }
  return false;
}

/// Calls `take` with one cell of each plan for each set of leaves that decides names of cards.
template <class Take>
void each_planned_data(const Store& store, Take take) {
  for (const std::int64_t number : plan_numbers(store)) {
    try {
      const StoredPlan plan = read_plan_file(store.plan_file(number), number, store.fs());
      std::set<std::string> seen;
      for (const StoredCell& cell : plan.cells) {
        if (seen.insert(differing_data(cell)).second) take(resolved_config(plan, cell));
      }
    } catch (
        const UserError&) {  // a plan that is damaged, or of another release: as if it were gone
      continue;
    }
  }
}

}  // namespace

std::vector<std::string> data_cards(const Store& store, const CellConfig& config) {
  const std::string name = data_card_name(config);
  std::vector<std::string> out;
  if (auto card = store.read_text(name)) out.push_back(*std::move(card));
  if (!out.empty() || !has_cards(store)) return out;
  std::set<std::string> former;
  each_planned_data(store, [&](const CellConfig& planned) {
    if (data_card_name(planned) == name) former.insert(former_name(planned));
  });
  for (const std::string& one : former) {
    if (auto card = store.read_text(one)) out.push_back(*std::move(card));
  }
  return out;
}

std::vector<OtherCard> other_data_cards(const Store& store, const CellConfig& config) {
  std::vector<OtherCard> out;
  if (!has_cards(store)) return out;
  std::set<std::string> seen = {data_card_name(config)};
  each_planned_data(store, [&](const CellConfig& planned) {
    if (planned.word("data.corpus") != config.word("data.corpus")) return;
    const std::string name = data_card_name(planned);
    if (seen.contains(name)) return;
    auto card = store.read_text(name);
    if (!card) card = store.read_text(former_name(planned));
    if (!card) return;
    seen.insert(name);
    out.push_back({planned, *std::move(card)});
  });
  return out;
}

}  // namespace depthgrid
