#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sweeps/report/listing.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// The options --sort, --filter and --columns of `results`.
struct ResultsQuery {
  std::string sort;    // name, with '-' in front for descending; empty = order of the sweep file
  std::string filter;  // sweeps/report/filter.hpp; empty = all
  std::vector<std::string> columns = {};  // full names; empty = those of each output
};

/// Names accepted by sort, filter and columns: id, alias, arm, tag, seed, baseline, status, step,
/// parameters, attempts, the leaves that vary, and the metrics of any cell (or the sweep's own).
std::vector<std::string> query_names(const Listing& listing);

/// The value of a cell by one of query_names(); null if it has none.
Value query_value(const Listing& listing, std::size_t row, const std::string& name);

/// What arms of a sweep with `match:` cost, beside what they were made equal in: operations of a
/// forward pass for each token, where some cells skip tokens also of what they execute, and of the
/// training, which executes more than that; and seconds.
std::vector<std::string> cost_metrics(const Listing& listing);

/// Full names for words as users write them, in their order, each once: a name, the end of one, or
/// a pattern with * and ? that fits some. @throws UserError (Usage) for a word that fits none.
std::vector<std::string> resolve_columns(const std::vector<std::string>& words,
                                         const std::vector<std::string>& names);

/// Order of values in a sorted listing: numbers before texts, absent ones (null) last.
bool sorts_before(const Value& a, const Value& b, bool down);

/// The cells that match, sorted; cells without the value of the sort key come last, ties keep the
/// order of the file. @throws UserError (Usage)
std::vector<std::size_t> select_cells(const Listing& listing, const ResultsQuery& query);

/// For people: the columns asked for; else cell, alias (a star marks the baseline), arm, tag (if
/// one says more than the arm), status, step, parameters (with `match:` also operations and time)
/// and the main metrics, the sweep's own first.
Table results_table(const Listing& listing, const std::vector<std::size_t>& cells,
                    const std::vector<std::string>& columns = {});

/// For spreadsheets and csv_listing(), in full precision: the columns asked for; else every leaf
/// that varies and every metric. What a cell has not is blank, a leaf that is null is "null".
Table results_csv_table(const Listing& listing, const std::vector<std::size_t>& cells,
                        const std::vector<std::string>& columns = {});

/// {"schema": 1, "sweep", "store", "planned", "metric", "goal", "eval_windows", …, "cells": [{id,
/// alias, arm, tag, seed, baseline, overrides, status, step, parameters, metrics, withheld}]};
/// docs/cli.md.
/// @param columns  if any, other metrics are left out.
std::string results_json(const Listing& listing, const std::vector<std::size_t>& cells,
                         const std::vector<std::string>& columns = {});

}  // namespace depthgrid
