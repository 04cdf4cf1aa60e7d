#include <algorithm>

#include <fmt/format.h>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/arguments/until_ci.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/printable.hpp"
#include "core/base/text_parts.hpp"
#include "sweeps/compare/arms_report.hpp"
#include "sweeps/compare/two_stage_report.hpp"
#include "sweeps/report/bits_per_byte.hpp"
#include "sweeps/report/evaluation_basis.hpp"
#include "sweeps/report/evaluation_windows.hpp"
#include "sweeps/report/no_match.hpp"
#include "sweeps/report/provenance_notes.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {
namespace {

enum class ResultsForm { Text, Csv, Json };

ResultsForm results_form(const CommandLine& line) {
  if (line.has("json")) return ResultsForm::Json;
  return line.has("csv") ? ResultsForm::Csv : ResultsForm::Text;
}

/// True for --by arm.
bool by_arm(const CommandLine& line) {
  if (line.has("by") && line.text_of("by") != "arm") {
    throw UserError(ExitCode::Usage, "results --by " + line.text_of("by") +
                                         ": cells are grouped by arm only (--by arm); depthgrid "
                                         "compare groups them by any factor");
  }
  return line.has("by");
}

/// What the text output says below the table.
std::string footnotes(const Listing& listing, const std::vector<std::size_t>& cells,
                      const std::vector<std::string>& names) {
  std::string text = losses_note(listing, cells, names) + bits_per_byte_note(listing, cells, names);
  if (!listing.matched.empty()) {
    const bool skips = cost_metrics(listing).size() > 2;
    text += "cost_flops_token: operations of a forward pass";
    if (skips) {
      text +=
          " that skips nothing, …_executed: of what its layers execute when it is evaluated; "
          "cost_flops_total: of the training";
    }
    text +=
        "; cost_wall_time: measured seconds of a cell's training and evaluations "
        "(docs/comparing.md)\n";
  }
  if (const std::string windows = eval_windows(listing, cells); windows != "disjoint") {
    text += "evaluated on sliding windows" +
            std::string(windows == "mixed" ? " in some cells" : "") +
            " (eval.stride is less than data.seq_len)\n";
  }
  text += provenance_notes(listing, cells);
  if (cells.size() < listing.cells.size()) {
    text += fmt::format("{} of {} cells\n", cells.size(), listing.cells.size());
  }
  return text;
}

/// Says on stderr that a filter leaves nothing. @return whether it does.
bool warns_of_no_match(const Listing& listing, const std::vector<std::size_t>& cells,
                       const std::string& filter) {
  const bool none = cells.empty() && !filter.empty();
  if (none) log(LogLevel::Warning, no_match_text(listing, filter));
  return none;
}

std::string listing_by_cell(const Listing& listing, const ResultsQuery& query, ResultsForm form) {
  const std::vector<std::size_t> cells = select_cells(listing, query);
  if (warns_of_no_match(listing, cells, query.filter) && form == ResultsForm::Text) return {};
  const auto columns = resolve_columns(query.columns, query_names(listing));
  if (form == ResultsForm::Json) return results_json(listing, cells, columns);
  if (form == ResultsForm::Csv) {
    const auto names = columns.empty() ? query_names(listing) : columns;
    for (const std::string& text : text_lines(evaluations_note(listing, cells, names))) {
      log(LogLevel::Warning, text);
    }
    return csv_of(results_csv_table(listing, cells, columns));
  }
  const Table table = results_table(listing, cells, columns);
  std::vector<std::string> titles;
  for (const TableColumn& column : table.columns) titles.push_back(column.title);
  std::string text = text_of(table, colour_of_stdout());
  if (!listing.planned) text += printable(store_text(listing)) + "\n";
  bool starred = false;
  for (const std::size_t row : cells) starred = starred || listing.baseline[row];
  if (starred && std::ranges::find(titles, "alias") != titles.end()) text += "* baseline\n";
  return text +
         printable(footnotes(listing, cells, titles) + evaluations_note(listing, cells, titles));
}

std::string listing_by_arm(const Listing& listing, const ResultsQuery& query, ResultsForm form,
                           const std::string& baseline, const std::vector<std::string>& allowed) {
  const std::vector<std::size_t> cells = select_cells(listing, {"", query.filter});
  if (warns_of_no_match(listing, cells, query.filter) && form == ResultsForm::Text) return {};
  std::vector<std::string> columns = query.columns;
  if (form == ResultsForm::Text && columns.empty()) columns = {listing.metric};
  ArmComparison comparison =
      compare_arms(listing, cells, baseline, allowed, shows_times(listing, columns, query.sort));
  sort_arms(comparison, query.sort);
  const std::vector<std::string> metrics = arm_metrics(comparison, columns);
  const std::vector<TwoStageAnswer> staged =
      two_stage_answers(listing, two_stage_question(comparison, cells, metrics, allowed));
  if (form == ResultsForm::Json) return arms_json(listing, comparison, metrics, staged);
  if (form == ResultsForm::Csv) {
    report_unshown(staged);
    Table table = arms_csv_table(comparison, metrics);
    add_two_stage_columns(table, listing, comparison, metrics, staged);
    return csv_of(table);
  }
  return arms_text(listing, comparison, metrics, colour_of_stdout()) +
         printable(two_stage_text(listing, staged) + footnotes(listing, cells, metrics));
}

}  // namespace

int results_verb(const Arguments& arguments) {
  CommandLine line(
      "results [STORE] [--by arm] [--all-plans] [--sort [-]NAME] [--filter EXPRESSION]\n"
      "                         [--columns NAME,...] [--csv | --json]",
      "One row per cell: state, parameters and metrics; or, with --by arm, one row per arm: mean\n"
      "and spread over seeds, and the difference to the baseline with its 95 % interval.\n"
      "STORE is the folder of a store or a sweep file.");
  line.examples(
      {"results results/tiny --by arm",
       "results results/tiny --filter \"alias = 'hidden=4,*'\" --sort final_loss.valid --csv"});
  store_options(line)
      .text("by", "arm", "one row per arm: the cells that differ only in their seeds")
      .text("baseline", "ARM", "with --by arm: the arm (or tag) to compare with")
      .list("allow", "WORD,...",
            "with --by arm: compare in spite of another order, clip, code or audit")
      .text("sort", "[-]NAME", "a metric, a leaf, or a column; with - in front, largest first")
      .text("filter", "EXPRESSION", "comparisons joined by and, or, not and parentheses")
      .list("columns", "NAME,...", "columns (--by arm, --json: metrics) to show; * and ? are wild")
      .flag("all-plans", "cells of other plans of the store, too")
      .flag("csv", "every leaf that varies and every metric, comma separated");
  line.json().excludes("csv", "json").needs("baseline", "by").needs("allow", "by");
  if (!line.parse(arguments)) return 0;
  const ResultsForm form = results_form(line);
  const bool arms = by_arm(line);
  const ResultsQuery query{line.text_of("sort"), line.text_of("filter"), line.words_of("columns")};
  Listing listing = StoreArgument(line).listing();
  for (const std::string& damage : damage_lines(listing)) log(LogLevel::Warning, damage);
  const std::string others = line.has("all-plans") ? "" : other_plans_text(listing);
  if (!line.has("all-plans")) keep_plan(listing);
  print(arms
            ? listing_by_arm(listing, query, form, line.text_of("baseline"), line.words_of("allow"))
            : listing_by_cell(listing, query, form));
  if (others.empty() || form == ResultsForm::Json) return 0;
  const std::string not_shown = others + " not shown; --all-plans shows them";
  if (form == ResultsForm::Csv) {
    log(LogLevel::Info, not_shown);
  } else {
    print(not_shown + "\n");
  }
  return 0;
}

}  // namespace depthgrid
