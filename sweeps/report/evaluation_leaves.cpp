#include "sweeps/report/evaluation_leaves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/config/cell_config.hpp"
#include "core/config/resolve/schema_condition.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

/// Leaves of `data` and `eval` that change less than all of it.
struct SeenRow {
  std::string_view leaf;
  unsigned bits;
};
constexpr std::array kSeen = {
    // Content, not place: the name of a corpus or the digest of its files counts.
    SeenRow{"data.path", 0},
    SeenRow{"data.valid", 0},
    SeenRow{"data.test", seen::kTestText},  // no digest of it is in the plan
    SeenRow{"data.cache", 0},
    // Shares are cut from the end of one text: test, then valid, then dev, as text_splits.hpp says.
    SeenRow{"data.split", seen::kTrainText | seen::kDevText},
    SeenRow{"data.dev_fraction", seen::kTrainText | seen::kDevText},
    SeenRow{"data.valid_fraction", seen::kTrainText | seen::kDevText | seen::kValidText},
    SeenRow{"data.train_tokens", seen::kTrainText},
    SeenRow{"data.seq_len", seen::kTraining | seen::kEvaluations},
    // What is trained on, and in which order, is the method; seeds are what is averaged over.
    SeenRow{"data.sampler", 0},
    SeenRow{"data.first_step", 0},
    SeenRow{"data.seed", 0},
    SeenRow{"eval.windows", seen::kPeriodic | seen::kModes},
    SeenRow{"eval.final_windows", seen::kFinal},
    SeenRow{"eval.mode_windows", seen::kModes},
    SeenRow{"eval.stride", seen::kPeriodic | seen::kFinal | seen::kModes},
    SeenRow{"eval.every", seen::kHowOften},
    SeenRow{"eval.at_start", seen::kHowOften},
    // They say which figures there are, and change none.
    SeenRow{"eval.splits", 0},
    SeenRow{"eval.final_splits", 0},
    SeenRow{"eval.protocol", 0},
    SeenRow{"eval.by_position", 0},
    SeenRow{"eval.modes", 0},
    SeenRow{"eval.deciders", 0},
    SeenRow{"eval.batch_size", 0},
};

/// Seeds, of which every cell has its own, do not. What of the training says which tokens a step
/// is of, and whether a gradient was cut, is kept for training_basis.hpp.
bool may_count(std::string_view path) {
  return (path.starts_with("data.") && path != "data.seed") || path.starts_with("eval.") ||
         path == "train.batch_size" || path == "train.clip";
}

/// Those of these leaves that may count, and the one on which it depends whether they are read.
ValueMap leaves_of_data(const ValueMap& leaves) {
  ValueMap out;
  for (const auto& entry : leaves) {
    const std::string& path = entry.first;
    if (may_count(path) || path == "model.family") out.push_back(entry);
  }
  return out;
}

/// All of them in a cell, without those that it does not read: their values say nothing. Leaves
/// that its plan lacks, of a release that had none, have their defaults.
/// @param varying  leaves_of_data() of those that differ between cells.
ValueMap read_leaves(const StoredPlan& plan, const StoredCell& cell, const ValueMap& varying) {
  ValueMap leaves = leaves_of_data(plan.constant);
  leaves.insert(leaves.end(), varying.begin(), varying.end());
  try {
    const CellConfig config = resolved_config(plan, cell);
    std::erase_if(leaves,
                  [](const auto& entry) { return find_leaf(entry.first) < schema().size(); });
    for (const Leaf& leaf : schema()) {
      if (may_count(leaf.path) && SchemaCondition(leaf.read_when).holds(config.lookup())) {
        leaves.emplace_back(std::string(leaf.path), config.at(leaf.path));
      }
    }
  } catch (const UserError&) {
    // a plan of another release: as it is written
  }
  std::erase_if(leaves, [](const auto& entry) { return entry.first == "model.family"; });
  sort_map(leaves);
  return leaves;
}

}  // namespace

unsigned seen_by(std::string_view leaf) {
  const auto* const row = std::ranges::find(kSeen, leaf, &SeenRow::leaf);
  if (row != kSeen.end()) return row->bits;
  if (leaf.starts_with("data.")) return seen::kTexts;
  return leaf.starts_with("eval.") ? seen::kEvaluations : 0;
}

bool makes_tokens(std::string_view leaf) {
  return leaf.starts_with("data.tokenizer") || leaf == "data.vocab_size";
}

const Value* EvaluationLeaves::find(std::size_t row, std::string_view leaf) const {
  return row < of_cell.size() ? find_key(sets.at(of_cell[row]), leaf) : nullptr;
}

double EvaluationLeaves::number(std::size_t row, std::string_view leaf) const {
  const Value* value = find(row, leaf);
  return value != nullptr && value->is_number() ? value->number() : std::nan("");
}

bool EvaluationLeaves::same(std::size_t a, std::size_t b) const {
  return a >= of_cell.size() || b >= of_cell.size() || of_cell[a] == of_cell[b];
}

EvaluationLeaves evaluation_leaves(const StoredPlan& plan) {
  EvaluationLeaves out;
  std::map<std::string, std::size_t> known;  // by the leaves that vary, as JSON
  for (const StoredCell& cell : plan.cells) {
    const ValueMap varying = leaves_of_data(cell.varying);
    const auto [at, fresh] = known.emplace(canonical_json(Value(varying)), 0);
    if (fresh) {
      at->second = out.sets.size();
      out.sets.push_back(read_leaves(plan, cell, varying));
    }
    out.of_cell.push_back(at->second);
  }
  return out;
}

}  // namespace depthgrid
