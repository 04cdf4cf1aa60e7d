#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/config/match.hpp"
#include "core/config/schema/value_pool.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {

/// A value written for a leaf.
struct WrittenLeaf {
  std::size_t leaf = 0;
  const PooledValue* value = nullptr;
  Place place;
};

/// linspace or logspace, not yet expanded: a grid is counted before it takes memory.
struct NumberRange {
  double from = 0, to = 0;
  std::int64_t count = 0;
  bool logarithmic = false;
  Place place;
};

/// The levels of one leaf.
struct Column {
  std::size_t leaf = 0;
  Place place;
  std::vector<const PooledValue*> values;
  std::vector<Place> places;  // of each value
  std::optional<NumberRange> range;

  std::size_t size() const {
    return range ? static_cast<std::size_t>(range->count) : values.size();
  }
};

/// One dimension of the product: a parameter, or the paired columns of a zip entry.
struct Factor {
  std::vector<Column> columns;
  std::size_t size() const { return columns.front().size(); }
};

/// Condition: a leaf has one of these values.
struct LeafCondition {
  std::size_t leaf = 0;
  std::vector<const PooledValue*> values;
  Place place;
};

struct WhenBlock {
  std::vector<LeafCondition> condition;
  std::vector<Factor> factors;
  Place place;
};

struct ExcludeRow {
  std::vector<LeafCondition> conditions;
  Place place;
};

struct IncludeRow {
  std::vector<WrittenLeaf> leaves;
  std::string tag;
  Place place;
};

/// Selects arms: all leaves match, and the tag of the include row, if one is given.
struct ArmSelection {
  std::vector<LeafCondition> conditions;
  std::string tag;
  Place place;
};

/// One rule of `match:`.
struct MatchRow {
  MatchOn on = MatchOn::Parameters;
  double tolerance = 0.01;
  std::size_t vary = 0;                   // row of the free leaf
  std::optional<ArmSelection> reference;  // absent: the baseline
  std::optional<ArmSelection> arms;       // absent: all but the reference
  Place place;
};

/// A sweep file with its bases and overrides, read and typed but not expanded.
struct SweepDocument {
  std::string name, description;
  std::string method = "grid";
  std::string metric = "final_loss.valid";
  std::string goal = "minimize";
  std::optional<Place> metric_place;  // given in a file
  bool pairs = false;
  std::vector<std::int64_t> seeds = {0};
  std::optional<Place> seeds_place;  // given in a file
  std::optional<std::uint64_t> shuffle;
  std::int64_t max_cells = 1000000;
  std::vector<std::string> tags;

  std::map<std::size_t, WrittenLeaf> fixed;  // by leaf
  std::set<std::size_t> overrides;  // leaves whose fixed value or factor also wins over the preset
                                    // of an include row: of --set, or the key `overrides`
  std::vector<Factor> factors;
  std::vector<WhenBlock> when;
  std::vector<ExcludeRow> exclude;
  std::vector<IncludeRow> include;
  std::optional<ArmSelection> baseline;
  std::vector<MatchRow> match;
  Place place;  // of the file
};

/// Number of combinations of the grid before `when` and `exclude`, with seeds and include rows;
/// saturates at the largest integer.
std::uint64_t count_combinations(const SweepDocument& document);

/// Expands linspace and logspace. @param errors  receives problems of type and range.
void fill_ranges(SweepDocument& document, ValuePool& pool, Diagnostics& errors);

}  // namespace depthgrid
