#include "storage/plan_union.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

/// A leaf in a plan: its one value, or that it differs between cells or is unknown there.
const Value* shared_value(const StoredPlan& plan, std::string_view leaf) {
  return find_key(plan.constant, leaf);
}

/// The value of a leaf that a plan lacks, because its version of the program had none.
const Value& value_before(const CellConfig& defaults, std::string_view leaf) {
  return defaults.at(leaf);
}

bool same_leaf(const StoredPlan& a, const StoredPlan& b, std::string_view leaf,
               const CellConfig& defaults) {
  const Value* one = shared_value(a, leaf);
  const Value* other = shared_value(b, leaf);
  if (one != nullptr && other != nullptr) return *one == *other;
  for (std::size_t i = 0; i < a.cells.size(); ++i) {
    const Value* left = one != nullptr ? one : find_key(a.cells[i].varying, leaf);
    const Value* right = other != nullptr ? other : find_key(b.cells[i].varying, leaf);
    if (left == nullptr && right == nullptr) return true;
    if (left == nullptr) left = &value_before(defaults, leaf);
    if (right == nullptr) right = &value_before(defaults, leaf);
    if (*left != *right) return false;
  }
  return true;
}

bool same_name(const StoredCell& a, const StoredCell& b) {
  const auto names = [](const StoredCell& c) {
    return std::tie(c.id, c.alias, c.arm, c.factor, c.tag, c.replicate, c.baseline);
  };
  return names(a) == names(b);
}

/// What an arm is, over its seeds.
struct ArmContent {
  std::set<std::string> configurations;
  std::map<std::int64_t, CellId> cells;  // by seed
};

std::map<std::string, ArmContent> arms_of(const std::vector<StoredCell>& cells) {
  std::map<std::string, ArmContent> out;
  for (const StoredCell& cell : cells) {
    ArmContent& arm = out[cell.arm];
    arm.configurations.insert(arm_configuration(cell.changed));
    arm.cells.emplace(cell.seed, cell.id);
  }
  return out;
}

bool same_arm(const ArmContent& a, const ArmContent& b) {
  return a.configurations == b.configurations &&
         std::ranges::none_of(a.cells, [&b](const auto& cell) {
           const auto at = b.cells.find(cell.first);
           return at != b.cells.end() && at->second != cell.second;
         });
}

/// "mlp" becomes "mlp@1", "mlp,s0" becomes "mlp@1,s0".
void rename(StoredCell& cell) {
  const std::string mark = "@" + std::to_string(cell.generation);
  const std::size_t end = cell.alias.starts_with(cell.arm) ? cell.arm.size() : cell.alias.size();
  cell.alias.insert(end, mark);
  cell.arm += mark;
}

/// Leaves that are the same in all plans stay shared; the others become values of cells.
void share_leaves(std::vector<StoredPlan>& plans) {
  const auto everywhere = [&plans](const std::pair<std::string, Value>& entry) {
    return std::ranges::all_of(plans, [&entry](const StoredPlan& plan) {
      const Value* value = find_key(plan.constant, entry.first);
      return value != nullptr && *value == entry.second;
    });
  };
  ValueMap shared;
  std::ranges::copy_if(plans.front().constant, std::back_inserter(shared), everywhere);
  for (StoredPlan& plan : plans) {
    for (const auto& entry : plan.constant) {
      if (find_key(shared, entry.first) != nullptr) continue;
      for (StoredCell& cell : plan.cells) cell.varying.push_back(entry);
    }
    for (StoredCell& cell : plan.cells) sort_map(cell.varying);
  }
  plans.front().constant = std::move(shared);
}

}  // namespace

bool same_plan(const StoredPlan& a, const StoredPlan& b) {
  const auto heading = [](const StoredPlan& p) {
    return std::tie(p.name, p.description, p.method, p.metric, p.goal, p.order, p.baseline_arm,
                    p.tags, p.seeds);
  };
  if (heading(a) != heading(b) || matched_json(a.matched) != matched_json(b.matched)) return false;
  if (!std::ranges::equal(a.cells, b.cells, same_name)) return false;
  const CellConfig defaults;
  return std::ranges::all_of(
      schema(), [&](const Leaf& leaf) { return same_leaf(a, b, leaf.path, defaults); });
}

StoredPlan united(std::vector<StoredPlan> plans) {
  if (plans.size() == 1) return std::move(plans.front());
  share_leaves(plans);
  StoredPlan out = std::move(plans.front());
  for (std::size_t i = 1; i < plans.size(); ++i) {
    const auto newer = arms_of(out.cells);
    const auto here = arms_of(plans[i].cells);
    std::map<std::string, std::string> renamed;
    for (StoredCell& cell : plans[i].cells) {
      const auto other = newer.find(cell.arm);
      if (other != newer.end() && !same_arm(here.at(cell.arm), other->second)) {
        const std::string before = cell.arm;
        rename(cell);
        renamed.emplace(before, cell.arm);
      }
      out.cells.push_back(std::move(cell));
    }
    for (MatchedWidth& width : plans[i].matched) {
      for (std::string* arm : {&width.arm, &width.reference}) {
        if (const auto now = renamed.find(*arm); now != renamed.end()) *arm = now->second;
      }
      const bool known = std::ranges::any_of(out.matched, [&width](const MatchedWidth& w) {
        return std::tie(w.arm, w.on, w.leaf, w.value) ==
               std::tie(width.arm, width.on, width.leaf, width.value);
      });
      if (!known) out.matched.push_back(std::move(width));
    }
  }
  return out;
}

}  // namespace depthgrid
