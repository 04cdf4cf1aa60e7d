#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/compare/compare.hpp"

namespace depthgrid {

/// A leaf and its levels.
struct GridFactor {
  std::string leaf;
  std::vector<Value> levels;
};

/// A listing as a store gives it, of cells whose figures a test makes up; all have completed.
///
/// An arm is named after its leaves ("16,0.1"), a cell's id is a function of all its leaves and its
/// seed, and what training_basis.hpp and evaluation_basis.hpp ask of the leaves is there.
struct GridCells {
  /// Of a cell, by the index of its level of each factor, and its seed; NaN: no figure.
  using FigureAt = std::function<double(const std::vector<std::size_t>& at, std::int64_t seed)>;

  Listing listing;

  explicit GridCells(ValueMap constant = {}, const std::string& store = "results/grid") {
    listing.sweep = "grid";
    listing.store = store;
    listing.metric = "final_loss.valid";
    listing.goal = "minimize";
    listing.constant = std::move(constant);
    sort_map(listing.constant);
  }

  /// One cell. The reference is good until the next call.
  CellSummary& add(ValueMap overrides, std::int64_t seed, double figure,
                   const std::string& arm = "", const std::string& tag = "") {
    CellSummary& cell = listing.cells.emplace_back();
    for (const auto& [leaf, value] : overrides) {
      cell.arm += (cell.arm.empty() ? "" : ",") + plain_text(value);
    }
    sort_map(overrides);
    if (!arm.empty()) cell.arm = arm;
    cell.tag = tag;
    cell.seed = seed;
    cell.status = CellStatus::Completed;
    cell.overrides = std::move(overrides);
    if (!std::isnan(figure)) cell.metrics[listing.metric] = figure;
    ValueMap leaves;
    for (const ValueMap* const map : {&listing.constant, &cell.overrides}) {
      for (const auto& [leaf, value] : *map) {
        const bool kept = leaf.starts_with("data.") || leaf.starts_with("eval.") ||
                          leaf == "train.batch_size" || leaf == "train.clip";
        if (kept) leaves.emplace_back(leaf, value);
      }
    }
    sort_map(leaves);
    cell.alias = cell.arm + ",s" + std::to_string(seed);
    cell.id = canonical_json(Value(listing.constant)) + canonical_json(Value(cell.overrides)) +
              arm + std::to_string(seed);
    listing.baseline.push_back(false);
    listing.withheld.emplace_back();
    listing.leaves.of_cell.push_back(listing.leaves.sets.size());
    listing.leaves.sets.push_back(std::move(leaves));
    return cell;
  }

  /// All combinations of the levels, the last factor's fastest, with seeds 0, 1, …
  GridCells& grid(const std::vector<GridFactor>& factors, std::int64_t seeds,
                  const FigureAt& figure) {
    std::vector<std::size_t> at(factors.size(), 0);
    while (true) {
      ValueMap overrides;
      for (std::size_t i = 0; i < at.size(); ++i) {
        overrides.emplace_back(factors[i].leaf, factors[i].levels[at[i]]);
      }
      for (std::int64_t seed = 0; seed < seeds; ++seed) add(overrides, seed, figure(at, seed));
      std::size_t i = at.size();
      while (i > 0 && ++at[i - 1] == factors[i - 1].levels.size()) at[--i] = 0;
      if (i == 0) return *this;
    }
  }

  /// One arm with seeds 0, 1, …, as `include` gives it.
  GridCells& arm(const std::string& name, const std::vector<double>& figures,
                 const std::string& tag = "", const ValueMap& overrides = {}) {
    for (std::size_t s = 0; s < figures.size(); ++s) {
      add(overrides, static_cast<std::int64_t>(s), figures[s], name, tag);
    }
    return *this;
  }

  /// Makes an arm the sweep's own baseline.
  GridCells& baseline(const std::string& name) {
    for (std::size_t row = 0; row < listing.cells.size(); ++row) {
      listing.baseline[row] = listing.cells[row].arm == name;
    }
    return *this;
  }

  std::size_t row_of(const std::string& arm, std::int64_t seed) const {
    for (std::size_t row = 0; row < listing.cells.size(); ++row) {
      if (listing.cells[row].arm == arm && listing.cells[row].seed == seed) return row;
    }
    throw std::out_of_range(arm);
  }
  CellSummary& at(const std::string& arm, std::int64_t seed) {
    return listing.cells[row_of(arm, seed)];
  }
  /// The leaves that figures of a cell are of, to change them.
  ValueMap& leaves_at(const std::string& arm, std::int64_t seed) {
    return listing.leaves.sets[listing.leaves.of_cell[row_of(arm, seed)]];
  }

  std::vector<std::size_t> rows() const {
    std::vector<std::size_t> out(listing.cells.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    return out;
  }
  double figure(std::size_t row) const {
    const auto& metrics = listing.cells[row].metrics;
    const auto found = metrics.find(listing.metric);
    return found == metrics.end() ? kNaN : found->second;
  }
  Comparison compare(const ComparisonQuery& query) const {
    return compare_cells(listing, rows(), query);
  }
  Comparison by(const std::vector<std::string>& factors) const {
    ComparisonQuery query;
    query.by = factors;
    return compare(query);
  }
};

/// @throws std::out_of_range for a table or row that is not there.
inline const EffectTable& table_of(const Comparison& comparison, const std::string& factor,
                                   const std::string& within = "") {
  for (const EffectTable& table : comparison.effects) {
    if (table.factor == factor && table.within == within) return table;
  }
  throw std::out_of_range(factor + " at " + within);
}

inline const ComparedRow& row_of(const EffectTable& table, const std::string& group) {
  for (const ComparedRow& row : table.rows) {
    if (row.group.name == group) return row;
  }
  throw std::out_of_range(group);
}

/// @throws std::bad_optional_access of the baseline.
inline const ContrastEvidence& evidence_for(const EffectTable& table, const std::string& group) {
  return row_of(table, group).evidence.value();
}

/// Two factors of three and two levels with five seeds, of which tests know the answers.
inline const std::vector<GridFactor>& two_factors() {
  static const std::vector<GridFactor> factors = {{"model.d_model", {16, 32, 64}},
                                                  {"train.lr", {0.1, 0.2}}};
  return factors;
}

inline double two_factor_figure(const std::vector<std::size_t>& at, std::int64_t seed) {
  static const double kFigures[3][2][5] = {
      {{2.412, 2.398, 2.431, 2.405, 2.420}, {2.401, 2.379, 2.425, 2.388, 2.411}},
      {{2.390, 2.371, 2.399, 2.387, 2.402}, {2.352, 2.349, 2.371, 2.340, 2.366}},
      {{2.381, 2.377, 2.392, 2.366, 2.395}, {2.330, 2.311, 2.362, 2.329, 2.335}}};
  return kFigures[at[0]][at[1]][seed];
}

inline GridCells two_factor_grid() {
  return GridCells().grid(two_factors(), 5, two_factor_figure);
}

}  // namespace depthgrid
