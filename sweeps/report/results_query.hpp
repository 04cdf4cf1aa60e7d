#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sweeps/report/listing.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// The options --sort and --filter of `results`.
struct ResultsQuery {
  std::string sort;    // name, with '-' in front for descending; empty = order of the sweep file
  std::string filter;  // sweeps/report/filter.hpp; empty = all
};

/// Names accepted by sort and filter: id, alias, seed, status, step, parameters, attempts,
/// baseline, the leaves that vary, and the metrics of any cell (or the sweep's own).
std::vector<std::string> query_names(const Listing& listing);

/// The cells that match, sorted; cells without the value of the sort key come last, ties keep the
/// order of the file. @throws UserError (Usage)
std::vector<std::size_t> select_cells(const Listing& listing, const ResultsQuery& query);

/// For people: cell, alias (a star marks the baseline), status, step, parameters and the main
/// metrics, the sweep's own first.
Table results_table(const Listing& listing, const std::vector<std::size_t>& cells);

/// For spreadsheets: every leaf that varies and every metric in full precision.
Table results_csv_table(const Listing& listing, const std::vector<std::size_t>& cells);

/// {"schema": 1, "sweep", "store", "planned", "metric", "goal", "eval_windows", "cells": [{id,
/// alias, seed, baseline, overrides, status, step, parameters, metrics}]}; docs/cli.md.
std::string results_json(const Listing& listing, const std::vector<std::size_t>& cells);

}  // namespace depthgrid
