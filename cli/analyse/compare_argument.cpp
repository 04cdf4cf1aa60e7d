#include "cli/analyse/compare_argument.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/arguments/store_argument.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "sweeps/report/csv_listing.hpp"
#include "sweeps/report/listing_union.hpp"

namespace depthgrid {

namespace {

/// @throws UserError (NoInput) for the name of a table that is not there.
void check_table_is_there(const std::string& name) {
  if (!name.ends_with(".csv") || std::filesystem::exists(name)) return;
  throw UserError(ExitCode::NoInput,
                  name +
                      ": there is no such file; a table of cells was expected, as depthgrid "
                      "results STORE --csv writes it");
}

/// A row of a table that has no id is known by its arm, its seed and its leaves.
/// @throws UserError (Usage) if a cell of another store is the same one, unless stores are
/// compared.
void check_rows_of_tables(const CommandLine& line, const Listing& listing) {
  const std::vector<std::string> by = line.words_of("by");
  if (listing.tables.empty() || std::ranges::find(by, "store") != by.end()) return;
  std::map<std::string, std::size_t> known;
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    const CellSummary& cell = listing.cells[row];
    const std::string leaves = canonical_json(Value(cell.overrides));
    const auto [at, fresh] =
        known.emplace(fmt::format("{}\n{}\n{}", cell.arm, cell.seed, leaves), row);
    if (fresh || listing.store_of(row) == listing.store_of(at->second)) continue;
    if (!listing.of_table(row) && !listing.of_table(at->second)) continue;
    throw UserError(
        ExitCode::Usage,
        fmt::format("arm {}, seed {} is in {} and in {}: give the arms of a table names of their "
                    "own, or compare the two by store (--by store)",
                    cell.arm, cell.seed, listing.store_of(at->second), listing.store_of(row)));
  }
}

}  // namespace

CommandLine& comparison_options(CommandLine& line) {
  return line.arguments("STORE")
      .sweep_options()
      .text("store", "DIR", "store of the sweep file")
      .text("baseline", "NAME", "level, arm or tag to compare with (of the first factor)")
      .text("metric", "NAME", "a metric (default: the sweep's own)")
      .text("goal", "WORD", "minimize or maximize (default: the sweep's, or by the metric)")
      .text("margin", "δ", "a difference that does not matter, in the unit of the metric")
      .list("allow", "WORD,...", "compare in spite of another order, clip, code or audit")
      .text("filter", "EXPRESSION", "which cells take part, as in results")
      .flag("all-plans", "cells of other plans of the store, too");
}

ComparisonQuery comparison_query(const CommandLine& line) {
  ComparisonQuery out{.by = line.words_of("by"),
                      .within = line.text_of("within"),
                      .baseline = line.text_of("baseline"),
                      .metric = line.text_of("metric"),
                      .goal = line.word_of("goal", {"minimize", "maximize"}),
                      .margin = {},
                      .allowed = line.words_of("allow")};
  if (!line.has("margin")) return out;
  out.margin = line.real_of("margin", 0);
  if (*out.margin > 0) return out;
  throw UserError(ExitCode::Usage,
                  "--margin " + line.text_of("margin") +
                      ": a number above 0 was expected, in the unit of the metric");
}

Listing compared_listing(const CommandLine& line) {
  std::vector<std::string> names = line.list_of("STORE");
  if (names.empty()) names.emplace_back();
  std::vector<Listing> listings;
  for (const std::string& name : names) {
    check_table_is_there(name);
    Listing& listing = listings.emplace_back(
        names_table(name) ? read_csv_listing(name) : StoreArgument(line, name).listing());
    for (const std::string& damage : damage_lines(listing)) log(LogLevel::Warning, damage);
    if (!line.has("all-plans")) keep_plan(listing);
  }
  Listing out = listing_union(std::move(listings));
  check_rows_of_tables(line, out);
  return out;
}

void require_stores(const Listing& listing, const std::string& asks) {
  if (listing.tables.empty()) return;
  throw UserError(ExitCode::Usage,
                  fmt::format("{}: {} is a table, which holds no curves: name the store that its "
                              "figures are of",
                              asks, listing.tables.front()));
}

}  // namespace depthgrid
