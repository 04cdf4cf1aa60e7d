#include <fmt/format.h>

#include "cli/analyse/compare_argument.hpp"
#include "cli/arguments/command_line.hpp"
#include "cli/arguments/until_ci.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/output.hpp"
#include "core/base/printable.hpp"
#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/compare_notes.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "sweeps/compare/derived_metric.hpp"
#include "sweeps/compare/two_stage_report.hpp"
#include "sweeps/report/csv_listing.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {
namespace {

/// The share by which parameters may differ: that of `match:`, else its default.
double parameter_tolerance(const Listing& listing) {
  return listing.matched.empty() ? 0.01 : listing.matched.front().tolerance;
}

/// @throws UserError (Usage) for a cell of a table that does not say how many it has.
void require_parameters(const Listing& listing, const std::vector<std::size_t>& rows) {
  for (const std::size_t row : rows) {
    const CellSummary& cell = listing.cells[row];
    if (!listing.of_table(row) || cell.status != CellStatus::Completed || cell.parameters > 0) {
      continue;
    }
    throw UserError(ExitCode::Usage,
                    fmt::format("--at parameters: {} of {} has none: a column `parameters` was "
                                "expected, whole numbers above 0",
                                cell.alias, listing.store_of(row)));
  }
}

/// Computes what --at, --target or --last ask for. @throws UserError (Usage)
void derive(const CommandLine& line, const std::vector<std::size_t>& rows, Listing& listing,
            ComparisonQuery& query) {
  const std::string own = query.metric.empty() ? listing.metric : query.metric;
  const std::string metric = metric_with_curve(own);
  const std::string at = line.word_of("at", {"parameters", "flops", "time"});
  const bool equal_cost = at == "flops" || at == "time";
  const int asked = equal_cost + line.has("target") + line.has("last");
  if (asked > 1) {
    throw UserError(ExitCode::Usage,
                    "compare: --at flops or time, --target and --last are different metrics: ask "
                    "for one at a time");
  }
  if (equal_cost) require_stores(listing, "--at " + at);
  for (const char* const option : {"target", "last"}) {
    if (line.has(option)) require_stores(listing, std::string("--") + option);
  }
  if (at == "parameters") {
    require_parameters(listing, rows);
    query.parameter_tolerance = parameter_tolerance(listing);
  }
  if (asked == 0) return;
  const double target = line.real_of("target", 0);
  const auto last = static_cast<std::size_t>(line.number_of("last", 3));
  const CurvesByRow curves = read_curves(listing, rows, metric);
  const std::string goal = query.goal.empty() ? goal_of(listing, own) : query.goal;
  query.goal = "minimize";
  if (line.has("target")) {
    query.derived =
        add_steps_to_target(listing, curves, metric, target,
                            goal == "maximize" ? MetricGoal::Maximize : MetricGoal::Minimize);
  } else if (line.has("last")) {
    query.derived = add_late_noise(listing, curves, metric, last);
  } else {
    query.derived =
        add_equal_cost(listing, curves, metric, at == "time" ? CurveAxis::Time : CurveAxis::Flops);
    query.goal = goal;
  }
}

}  // namespace

int compare_verb(const Arguments& arguments) {
  CommandLine line(
      "compare [STORE|FILE.csv…] [--by NAME,…] [--within LEAF] [--baseline NAME] [--metric NAME]\n"
      "                         [--margin δ] [--filter EXPRESSION] [--csv | --json]",
      "Effects of factors, with intervals and tests. The unit is the seed: figures are averaged\n"
      "over the other factors, and seeds are paired. NAME of --by is a leaf that the sweep varies\n"
      "(or its last part), arm (the default), tag, or, of several stores, store. FILE.csv is a\n"
      "table as `results --csv` writes it, or one of your own: arm,seed,final_loss.valid.");
  line.examples({"compare results/h_mod --by hidden",
                 "compare results/grid --by hidden,scale --margin 0.005",
                 "compare results/a results/b --by arm --filter 'seed < 5' --json",
                 "compare results/a elsewhere.csv --baseline gpt2"});
  comparison_options(
      line.list("by", "NAME,...", "factors; of two, also their interaction (default: arm)")
          .text("within", "LEAF", "effects at each level of this leaf, not averaged over it"))
      .text("at", "WHAT",
            "equal parameters (others are refused), flops or time (curves read there)")
      .text("target", "VALUE", "compare the steps until the metric is there")
      .number("last", 3, "compare the noise of so many last evaluations, 3 at least")
      .flag("csv", "one row per level, in full precision");
  if (!line.json().excludes("csv", "json").parse(arguments)) return 0;
  ComparisonQuery query = comparison_query(line);
  Listing listing = compared_listing(line);
  const std::vector<std::size_t> rows = select_cells(listing, {"", line.text_of("filter")});
  derive(line, rows, listing, query);
  const Comparison comparison = compare_cells(listing, rows, query);
  const std::optional<NoContrast> problem =
      no_contrast(listing, rows, comparison, line.text_of("filter"));
  const std::vector<TwoStageAnswer> staged =
      two_stage_answers(listing, two_stage_question(listing, comparison, rows, query.allowed));
  if (line.has("json")) {
    print(comparison_json(listing, comparison, problem, staged));
  } else if (line.has("csv")) {
    report_unshown(staged);
    Table table = comparison_csv_table(comparison);
    add_two_stage_columns(table, listing, comparison, staged);
    print(csv_of(table));
    const std::string notes = other_questions_note(listing, comparison) + tables_note(listing);
    if (!notes.empty()) print_to_stderr(printable(notes));
  } else if (!rows.empty()) {
    print(comparison_text(listing, comparison, colour_of_stdout()) +
          printable(two_stage_text(listing, staged)));
  }
  if (!problem) return 0;
  log(LogLevel::Warning, problem->sentence);
  return number_of(problem->code);
}

}  // namespace depthgrid
