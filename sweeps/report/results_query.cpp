#include "sweeps/report/results_query.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

#include "core/base/grouped.hpp"
#include "core/base/json_text.hpp"
#include "sweeps/report/bits_per_byte.hpp"
#include "sweeps/report/evaluation_basis.hpp"
#include "sweeps/report/evaluation_windows.hpp"
#include "sweeps/report/filter.hpp"
#include "sweeps/report/level_text.hpp"
#include "sweeps/report/provenance_notes.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> kMainMetrics = {
    "eval_loss.valid", "final_loss.valid", "eval_bits_per_byte.valid", "train_loss",
    "gradient_adjoint_error"};  // what an approximate gradient is worth

/// A column that every cell has.
struct FixedColumn {
  const char* name;
  Value (*value)(const CellSummary& cell, bool baseline);
};

constexpr std::array kFixed = {
    FixedColumn{"id", [](const CellSummary& c, bool) { return Value(c.id); }},
    FixedColumn{"alias", [](const CellSummary& c, bool) { return Value(c.alias); }},
    FixedColumn{"arm", [](const CellSummary& c, bool) { return Value(c.arm); }},
    FixedColumn{"tag",
                [](const CellSummary& c, bool) { return c.tag.empty() ? Value() : Value(c.tag); }},
    FixedColumn{"seed", [](const CellSummary& c, bool) { return Value(c.seed); }},
    FixedColumn{"baseline", [](const CellSummary&, bool b) { return Value(b); }},
    FixedColumn{"status", [](const CellSummary& c, bool) { return Value(name_of(c.status)); }},
    FixedColumn{"step", [](const CellSummary& c, bool) { return Value(c.step); }},
    FixedColumn{"parameters",
                [](const CellSummary& c, bool) {
                  return c.parameters > 0 ? Value(c.parameters) : Value();
                }},
    FixedColumn{"attempts", [](const CellSummary& c, bool) { return Value(c.attempts); }},
    FixedColumn{"in_plan", [](const CellSummary& c, bool) { return Value(c.in_plan); }},
    FixedColumn{"plan", [](const CellSummary& c, bool) { return Value(c.plan); }}};

/// Numbers before texts; called only for values that are present.
bool before(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.number() < b.number();
  if (a.is_number() != b.is_number()) return a.is_number();
  return plain_text(a) < plain_text(b);
}

/// The sweep's own metric first, then the main ones that at least one cell has.
std::vector<std::string> shown_metrics(const Listing& listing) {
  std::vector<std::string> shown;
  if (!listing.metric.empty()) shown.push_back(listing.metric);
  for (const std::string_view name : kMainMetrics) {
    const bool there = std::any_of(
        listing.cells.begin(), listing.cells.end(),
        [&](const CellSummary& cell) { return cell.metrics.contains(std::string(name)); });
    if (there && name != listing.metric) shown.emplace_back(name);
  }
  return shown;
}

}  // namespace

Value query_value(const Listing& listing, std::size_t row, const std::string& name) {
  const CellSummary& cell = listing.cells[row];
  for (const FixedColumn& column : kFixed) {
    if (name == column.name) return column.value(cell, listing.baseline[row]);
  }
  if (name == "store") return Value(listing.store_of(row));
  const auto metric = cell.metrics.find(name);
  if (metric != cell.metrics.end() && !std::isnan(metric->second)) return metric->second;
  const Value* leaf = find_key(cell.overrides, name);
  return leaf != nullptr ? *leaf : Value();
}

std::vector<std::string> cost_metrics(const Listing& listing) {
  const bool skips = std::ranges::any_of(listing.cells, [](const CellSummary& cell) {
    const auto all = cell.metrics.find("cost_flops_token");
    const auto executed = cell.metrics.find("cost_flops_token_executed");
    return all != cell.metrics.end() && executed != cell.metrics.end() &&
           all->second != executed->second;
  });
  if (!skips) return {"cost_flops_token", "cost_wall_time"};
  return {"cost_flops_token", "cost_flops_token_executed", "cost_flops_total", "cost_wall_time"};
}

namespace {

/// Columns of the text output if none are asked for.
std::vector<std::string> main_columns(const Listing& listing) {
  std::vector<std::string> out = {"id", "alias", "arm"};
  const auto tagged = [](const CellSummary& cell) {
    return !cell.tag.empty() && cell.tag != cell.arm;
  };
  if (std::ranges::any_of(listing.cells, tagged)) out.emplace_back("tag");
  out.insert(out.end(), {"status", "step", "parameters"});
  // Arms that are equal in one thing are rarely so in another.
  if (!listing.matched.empty()) std::ranges::copy(cost_metrics(listing), std::back_inserter(out));
  const std::vector<std::string> metrics = shown_metrics(listing);
  out.insert(out.end(), metrics.begin(), metrics.end());
  return out;
}

/// A value in the text output.
std::string shown(const Listing& listing, std::size_t row, const std::string& name) {
  const CellSummary& cell = listing.cells[row];
  const Value value = query_value(listing, row, name);
  if (name == "alias" && listing.baseline[row]) return cell.alias + " *";
  if (name == "tag" && value.is_null()) return "";
  if (value.is_null()) return "-";
  const auto* whole = value.get_if<std::int64_t>();
  if (name == "parameters" && whole != nullptr) return grouped(*whole);
  return cell.metrics.contains(name) ? short_number(value.number()) : level_text(value);
}

}  // namespace

std::vector<std::string> query_names(const Listing& listing) {
  std::set<std::string> leaves, metrics;
  if (!listing.metric.empty()) metrics.insert(listing.metric);
  for (const CellSummary& cell : listing.cells) {
    for (const auto& [path, value] : cell.overrides) leaves.insert(path);
    for (const auto& [name, value] : cell.metrics) metrics.insert(name);
  }
  for (const std::string& name : withheld_names(listing)) metrics.insert(name);
  leaves.erase("seed");  // a column that every cell has
  std::vector<std::string> names;
  for (const FixedColumn& column : kFixed) names.emplace_back(column.name);
  if (!listing.stores.empty()) names.emplace_back("store");
  names.insert(names.end(), leaves.begin(), leaves.end());
  names.insert(names.end(), metrics.begin(), metrics.end());
  return names;
}

std::vector<std::size_t> select_cells(const Listing& listing, const ResultsQuery& query) {
  std::vector<std::size_t> cells(listing.cells.size());
  std::iota(cells.begin(), cells.end(), std::size_t{0});
  const std::vector<std::string> names = query_names(listing);
  if (!query.filter.empty()) {
    const CellFilter matches = parse_filter(query.filter, names);
    std::erase_if(cells, [&](std::size_t row) {
      return !matches([&](const std::string& name) {
        const Value own = query_value(listing, row, name);
        const Value* const shared = own.is_null() ? find_key(listing.constant, name) : nullptr;
        return shared != nullptr ? *shared : own;
      });
    });
  }
  if (query.sort.empty()) return cells;
  const bool down = query.sort[0] == '-';
  const std::string key = resolve_name(std::string_view(query.sort).substr(down ? 1 : 0), names);
  std::vector<Value> values;
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    values.push_back(query_value(listing, row, key));
  }
  std::stable_sort(cells.begin(), cells.end(), [&](std::size_t a, std::size_t b) {
    return sorts_before(values[a], values[b], down);
  });
  return cells;
}

bool sorts_before(const Value& a, const Value& b, bool down) {
  if (a.is_null() || b.is_null()) return !a.is_null() && b.is_null();
  return down ? before(b, a) : before(a, b);
}

std::vector<std::string> resolve_columns(const std::vector<std::string>& words,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> out;
  const auto add = [&out](const std::string& name) {
    if (std::ranges::find(out, name) == out.end()) out.push_back(name);
  };
  for (const std::string& word : words) {
    bool fits = false;
    if (word.find_first_of("*?") != std::string::npos) {
      for (const std::string& name : names) {
        if (!fits_pattern(name, word)) continue;
        fits = true;
        add(name);
      }
    }
    if (!fits) add(resolve_name(word, names));
  }
  return out;
}

Table results_table(const Listing& listing, const std::vector<std::size_t>& cells,
                    const std::vector<std::string>& columns) {
  Table table;
  const std::vector<std::string> names = columns.empty() ? main_columns(listing) : columns;
  for (const std::string& name : names) {
    const bool number = std::ranges::all_of(cells, [&](std::size_t row) {
      const Value value = query_value(listing, row, name);
      return value.is_null() || value.is_number();
    });
    table.columns.push_back({name == "id" ? "cell" : name, number ? Align::Right : Align::Left});
  }
  for (const std::size_t row : cells) {
    std::vector<std::string>& line = table.rows.emplace_back();
    for (const std::string& name : names) line.push_back(shown(listing, row, name));
  }
  return table;
}

Table results_csv_table(const Listing& listing, const std::vector<std::size_t>& cells,
                        const std::vector<std::string>& columns) {
  Table table;
  const std::vector<std::string> names = columns.empty() ? query_names(listing) : columns;
  for (const std::string& name : names) table.columns.push_back({name});
  for (const std::size_t row : cells) {
    std::vector<std::string>& line = table.rows.emplace_back();
    for (const std::string& name : names) {
      const Value value = query_value(listing, row, name);
      const bool has = !value.is_null() || find_key(listing.cells[row].overrides, name) != nullptr;
      line.push_back(has ? plain_text(value) : "");
    }
  }
  return table;
}

std::string results_json(const Listing& listing, const std::vector<std::size_t>& cells,
                         const std::vector<std::string>& columns) {
  Json rows = Json::array();
  for (const std::size_t row : cells) {
    const CellSummary& cell = listing.cells[row];
    std::map<std::string, double> metrics = cell.metrics;
    std::erase_if(metrics, [&columns](const auto& metric) {
      return !columns.empty() && std::ranges::find(columns, metric.first) == columns.end();
    });
    rows.push_back({{"id", cell.id},
                    {"alias", cell.alias},
                    {"arm", cell.arm},
                    {"tag", cell.tag.empty() ? Json() : Json(cell.tag)},
                    {"seed", cell.seed},
                    {"baseline", static_cast<bool>(listing.baseline[row])},
                    {"overrides", parse_ordered_json(canonical_json(cell.overrides))},
                    {"in_plan", cell.in_plan},
                    {"status", name_of(cell.status)},
                    {"step", cell.step},
                    {"parameters", cell.parameters > 0 ? Json(cell.parameters) : Json()},
                    {"settings", cell.settings.empty() ? Json() : Json(cell.settings)},
                    {"metrics", metrics},
                    {"withheld",
                     row < listing.withheld.size() ? Json(listing.withheld[row]) : Json::array()}});
  }
  Json mixed = Json::array();
  for (const auto& [metrics, difference] :
       mixed_metrics(listing, cells, columns.empty() ? query_names(listing) : columns)) {
    mixed.push_back({{"metrics", metrics},
                     {"what", difference.name},
                     {"values",
                      {parse_ordered_json(canonical_json(difference.theirs)),
                       parse_ordered_json(canonical_json(difference.mine))}}});
  }
  return json_text(Json{{"schema", 1},
                        {"sweep", listing.sweep},
                        {"store", listing.store},
                        {"planned", listing.planned},
                        {"metric", listing.metric},
                        {"goal", listing.goal},
                        {"eval_windows", eval_windows(listing, cells)},
                        {"older_text_rules", older_text_rules(listing, cells)},
                        {"mixed_settings", mixed_settings(listing, cells)},
                        {"not_comparable", mixed},
                        {"not_shown", listing.not_shown},
                        {"cells", rows}},
                   2) +
         "\n";
}

}  // namespace depthgrid
