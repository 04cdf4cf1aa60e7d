#include "sweeps/plan/start_check.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/config/axis_labels.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kShown = 12;  // differences shown per pair in a message

std::map<CellId, const CellPlan*> by_id(const Sweep& sweep) {
  std::map<CellId, const CellPlan*> out;
  for (const CellPlan& cell : sweep.cells) out.emplace(cell.id, &cell);
  return out;
}

}  // namespace

std::string other_axes(const CellConfig& source, const CellConfig& cell) {
  for (const CellConfig* one : {&source, &cell}) {
    if (one->word("train.task") == "lm") return {};
  }
  const Value &there = source.at("model.control.names"), &here = cell.at("model.control.names");
  if (there == here) return {};
  return fmt::format("model.control.names: {} there, {} here: an axis would change its meaning",
                     plain_text(there), plain_text(here));
}

bool is_added_module(std::string_view group) {
  using enum ParameterGroup;
  constexpr std::array kAddedGroups = {Control, Tpn, Scalars, Router, Predictor};
  return std::ranges::find(kAddedGroups, group, [](auto one) { return name_of(one); }) !=
         kAddedGroups.end();
}

bool is_training_aid(std::string_view name) {
  const bool direction = name.starts_with("regularisers.") && name.ends_with(".direction");
  return direction || name.starts_with("contrast.");
}

StartFit start_fit(const std::vector<TensorInfo>& source, const std::vector<TensorInfo>& target) {
  StartFit fit;
  std::map<std::string, const TensorInfo*> there;
  for (const TensorInfo& tensor : source) there.emplace(tensor.name, &tensor);
  for (const TensorInfo& tensor : target) {
    const auto at = there.find(tensor.name);
    const std::string shape = fmt::format("{}", fmt::join(tensor.shape, " x "));
    if (at == there.end()) {
      if (is_added_module(tensor.group)) {
        fit.fresh.push_back(tensor.name);
      } else {
        fit.problems.push_back(fmt::format("missing there: {} ({})", tensor.name, shape));
      }
      continue;
    }
    if (at->second->shape != tensor.shape) {
      fit.problems.push_back(fmt::format("{}: {} there, {} here", tensor.name,
                                         fmt::join(at->second->shape, " x "), shape));
    }
    there.erase(at);
  }
  for (const TensorInfo& tensor : source) {
    if (!there.contains(tensor.name) || is_training_aid(tensor.name)) continue;
    fit.problems.push_back("unknown here: " + tensor.name);
  }
  return fit;
}

std::vector<CellPlan> start_structures(const Sweep& sweep) {
  const auto cells = by_id(sweep);
  std::vector<CellPlan> out;
  std::set<std::string> seen;
  for (const SweepStart& start : sweep.starts) {
    for (const CellId& id : {start.cell, start.source}) {
      const CellPlan& cell = *cells.at(id);
      if (seen.insert(cell.structure).second) out.push_back(cell);
    }
  }
  return out;
}

void check_starts(const Sweep& sweep, const TensorTable& tensors) {
  const auto cells = by_id(sweep);
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<Diagnostic> problems;
  for (const SweepStart& start : sweep.starts) {
    const CellPlan& cell = *cells.at(start.cell);
    const CellPlan& source = *cells.at(start.source);
    if (!seen.emplace(source.structure, cell.structure).second) continue;
    StartFit fit = start_fit(tensors.at(source.structure), tensors.at(cell.structure));
    if (std::string other = other_axes(source.config, cell.config); !other.empty()) {
      fit.problems.insert(fit.problems.begin(), std::move(other));
    }
    if (fit.problems.empty()) continue;
    const std::size_t all = fit.problems.size();
    fit.problems.resize(std::min(all, kShown));
    Diagnostic problem = start.where;
    problem.message = fmt::format(
        "`model.init.from`: the weights of {} do not fit {} ({} differences):\n    {}{}",
        source.alias, cell.alias, all, fmt::join(fit.problems, "\n    "),
        all > kShown ? "\n    …" : "");
    problems.push_back(std::move(problem));
  }
  if (!problems.empty()) throw SweepErrors(std::move(problems));
}

std::string check_starts(const Sweep& sweep, const DescribeCache& cache) {
  if (sweep.starts.empty()) return {};
  CostTable described;
  try {
    described = cache.costs(start_structures(sweep), CostDetail::Tensors);
  } catch (const UserError& problem) {
    if (problem.code() != ExitCode::BadConfig) throw;
    return std::string("weights to start from are not compared with the models yet: ") +
           problem.what();
  }
  TensorTable tensors;
  for (auto& [structure, cost] : described) tensors.emplace(structure, std::move(cost.tensors));
  check_starts(sweep, tensors);
  return {};
}

}  // namespace depthgrid
