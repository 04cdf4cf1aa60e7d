#include "sweeps/compare/brief_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/compare/two_stage_intervals.hpp"
#include "sweeps/report/results_query.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kFewestArms = 4;
constexpr int kOtherLines = 8;  // of the run's summary, and below the table

double size_of(const ComparedRow& row) {
  const double mean = row.evidence ? std::abs(row.evidence->contrast.mean) : kNaN;
  return std::isnan(mean) ? -1 : mean;
}

/// The baseline, and the others of the largest differences, in the order of the file.
std::vector<const ComparedRow*> shown_rows(const EffectTable& table, std::size_t most) {
  std::vector<const ComparedRow*> out;
  for (const ComparedRow& row : table.rows) out.push_back(&row);
  if (out.size() <= most) return out;
  std::ranges::stable_sort(out, [](const ComparedRow* a, const ComparedRow* b) {
    if (a->group.baseline != b->group.baseline) return a->group.baseline;
    return size_of(*a) > size_of(*b);
  });
  out.resize(most);
  std::ranges::sort(out);
  return out;
}

/// With an ellipsis in its middle if it is longer; a name's end says as much as its beginning.
std::string shortened(const std::string& name, std::size_t most) {
  if (name.size() <= most || most < 5) return name;
  const std::size_t head = (most - 1) / 2, tail = most - 1 - head;
  std::size_t from = name.size() - tail, to = head;
  const auto inside = [&name](std::size_t at) {  // of a character of several bytes
    return at < name.size() && (static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80U;
  };
  while (to > 0 && inside(to)) --to;
  while (inside(from)) ++from;
  return name.substr(0, to) + "…" + name.substr(from);
}

Table brief_table(const Comparison& by_arm, const std::vector<const ComparedRow*>& rows,
                  std::size_t name_width) {
  Table out{{{"arm"}, {by_arm.metric, Align::Right}, {"n", Align::Right}}, {}};
  const bool compared = by_arm.effects.front().baseline_selected;
  if (compared) {
    out.columns.push_back({"difference", Align::Right});
    out.columns.push_back({"95 % interval"});
    out.columns.push_back({"verdict"});
  }
  for (const ComparedRow* row : rows) {
    const SampleSummary& sample = row->shown();
    std::vector<std::string> line = {
        shortened(row->group.name, name_width) + (row->group.baseline ? " *" : ""),
        mean_text(sample), std::to_string(sample.n)};
    if (compared) {
      line.resize(6);
      if (row->evidence && row->evidence->pairs.refused) {
        line[3] = "refused";
      } else if (row->evidence && row->evidence->contrast.n > 0) {
        const PairedContrast& c = row->evidence->contrast;
        line[3] = difference_text(c.mean, c.interval.half_width());
        line[4] = interval_text(c.interval);
        if (!std::isnan(c.p)) line[5] = contrast_verdict_text(row->evidence->verdict);
      }
    }
    out.rows.push_back(std::move(line));
  }
  return out;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0, width = 0;
  for (const char c : text) {
    if (c == '\n') {
      widest = std::max(widest, width);
      width = 0;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++width;
    }
  }
  return std::max(widest, width);
}

}  // namespace

std::string brief_comparison(const Listing& listing, const Comparison& by_arm,
                             const std::optional<NoContrast>& problem, Terminal::Size size) {
  if (by_arm.effects.empty()) return {};
  const EffectTable& table = by_arm.effects.front();
  const bool any =
      std::ranges::any_of(table.rows, [](const ComparedRow& row) { return row.all.n > 0; });
  if (table.rows.size() < 2 || !any) return {};
  const auto room = static_cast<std::size_t>(std::max(0, size.rows - kOtherLines));
  const std::vector<const ComparedRow*> rows = shown_rows(table, std::max(kFewestArms, room));
  std::size_t name = 0;
  for (const ComparedRow* row : rows) name = std::max(name, row->group.name.size());
  std::string text = text_of(brief_table(by_arm, rows, name));
  const auto columns = static_cast<std::size_t>(std::max(1, size.columns));
  if (const std::size_t wide = widest_line(text); wide > columns) {
    const std::size_t over = wide - columns;
    text =
        text_of(brief_table(by_arm, rows, std::max<std::size_t>(8, name - std::min(name, over))));
  }
  if (rows.size() < table.rows.size()) {
    text += fmt::format("{} more arms\n", table.rows.size() - rows.size());
  }
  if (problem) text += problem->sentence + "\n";
  return text + fmt::format("more: depthgrid compare {} (a factor: --by NAME)\n", listing.store);
}

std::string closing_comparison(Listing listing) {
  try {
    keep_plan(listing);
    const std::vector<std::size_t> rows = select_cells(listing, {});
    const Comparison comparison = compare_cells(listing, rows, {});
    constexpr Terminal::Size kNoTerminal{.columns = 120, .rows = 40};
    const std::optional<Terminal> terminal = Terminal::find();
    std::string text = brief_comparison(listing, comparison, no_contrast(listing, rows, comparison),
                                        terminal ? terminal->size() : kNoTerminal);
    if (!text.empty() && !two_stage_answers(listing, two_stage_question(listing)).empty()) {
      text +=
          "n was chosen by the rule of two stages, and these intervals take it as given: compare "
          "has those of the rule\n";
    }
    return text;
  } catch (const UserError& error) {
    return std::string(error.what()) + "\n";
  }
}

}  // namespace depthgrid
