#include "sweeps/compare/brief_comparison.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "sweeps/compare/arms_notes.hpp"
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

/// What stands in the first column: its title, and a name for each row.
struct ArmLabels {
  std::string title = "arm";
  std::vector<std::string> names;

  std::size_t longest() const {
    std::size_t out = 0;
    for (const std::string& name : names) out = std::max(out, name.size());
    return out;
  }
  /// Each shortened to so many bytes.
  ArmLabels within(std::size_t most) const {
    ArmLabels out{title, {}};
    for (const std::string& name : names) out.names.push_back(shortened(name, most));
    return out;
  }
  bool distinct() const {
    return std::set<std::string>(names.begin(), names.end()).size() == names.size();
  }
};

/// The leaves and the values of "hidden=64,scale=1/L"; nothing of a name that is no such list.
struct NamedLevels {
  std::vector<std::string> leaves, values;
};

NamedLevels levels_in_name(const std::string& name) {
  NamedLevels out;
  const auto in_leaf = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  const auto leaf_end = [&](std::size_t at) {  // of a leaf that a value follows; else npos
    std::size_t end = at;
    while (end < name.size() && in_leaf(name[end])) ++end;
    return end > at && end < name.size() && name[end] == '=' ? end : name.npos;
  };
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t equals = leaf_end(at);
    if (equals == name.npos) return {};
    std::size_t end = name.find(',', equals);  // a value may have commas, as a list has
    while (end != name.npos && leaf_end(end + 1) == name.npos) end = name.find(',', end + 1);
    out.leaves.push_back(name.substr(at, equals - at));
    out.values.push_back(name.substr(equals + 1, end - equals - 1));
    at = end == name.npos ? name.size() : end + 1;
  }
  return out;
}

/// "64,1/L" below "hidden,scale", where all names that are of leaves are of the same ones; nothing
/// where they are not, fewer than two are, or two arms would have one name.
std::optional<ArmLabels> without_leaves(const ArmLabels& labels) {
  ArmLabels out;
  std::vector<std::string> leaves;
  std::size_t dropped = 0;
  for (const std::string& name : labels.names) {
    const NamedLevels levels = levels_in_name(name);
    if (levels.leaves.empty()) {
      out.names.push_back(name);
      continue;
    }
    if (dropped++ == 0) leaves = levels.leaves;
    if (levels.leaves != leaves) return std::nullopt;
    out.names.push_back(fmt::format("{}", fmt::join(levels.values, ",")));
  }
  if (dropped < 2 || !out.distinct()) return std::nullopt;
  out.title = fmt::format("{}", fmt::join(leaves, ","));
  return out;
}

Table brief_table(const Comparison& by_arm, const std::vector<const ComparedRow*>& rows,
                  const ArmLabels& labels) {
  Table out{{{labels.title}}, {}};
  const bool lacking =
      std::ranges::any_of(rows, [](const ComparedRow* row) { return row->group.missing() > 0; });
  if (lacking) out.columns.push_back({"missing"});
  out.columns.push_back({by_arm.metric, Align::Right});
  out.columns.push_back({"n", Align::Right});
  const bool compared = by_arm.effects.front().baseline_selected;
  if (compared) {
    out.columns.push_back({"difference", Align::Right});
    out.columns.push_back({"95 % interval"});
    out.columns.push_back({"verdict"});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ComparedRow* const row = rows[i];
    const SampleSummary& sample = row->shown();
    std::vector<std::string> line = {labels.names[i] + (row->group.baseline ? " *" : "")};
    if (lacking) line.push_back(missing_text(row->group.counts));
    line.push_back(mean_text(sample));
    line.push_back(std::to_string(sample.n));
    if (row->evidence && row->evidence->pairs.refused) {
      line.emplace_back("refused");
    } else if (row->evidence && row->evidence->contrast.n > 0) {
      const PairedContrast& c = row->evidence->contrast;
      line.push_back(difference_text(c.mean, c.interval.half_width()));
      line.push_back(interval_text(c.interval));
      if (!std::isnan(c.p)) line.emplace_back(contrast_verdict_text(row->evidence->verdict));
    }
    line.resize(out.columns.size());
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

/// The table within so many columns: names are shortened, without their leaves where rows could not
/// be distinguished, and stand whole where they cannot be even then.
std::string fitted_table(const Comparison& by_arm, const std::vector<const ComparedRow*>& rows,
                         std::size_t columns) {
  constexpr std::size_t kShortestName = 8;
  const auto text = [&](const ArmLabels& labels) {
    return text_of(brief_table(by_arm, rows, labels));
  };
  ArmLabels labels;
  for (const ComparedRow* row : rows) labels.names.push_back(row->group.name);
  for (bool with_leaves = true;; with_leaves = false) {
    std::string whole = text(labels);
    const std::size_t wide = widest_line(whole), longest = labels.longest();
    if (wide <= columns) return whole;
    const std::size_t over = std::min(longest, wide - columns);
    const ArmLabels shorter = labels.within(std::max(kShortestName, longest - over));
    if (shorter.distinct()) return text(shorter);
    std::optional<ArmLabels> values = with_leaves ? without_leaves(labels) : std::nullopt;
    if (!values) return whole;
    labels = *std::move(values);
  }
}

}  // namespace

std::string brief_comparison(const Listing& listing, const Comparison& by_arm,
                             const std::optional<NoContrast>& problem, Terminal::Size size) {
  if (by_arm.effects.empty()) return {};
  const EffectTable& table = by_arm.effects.front();
  const bool any =
      std::ranges::any_of(table.rows, [](const ComparedRow& row) { return row.all.n > 0; });
  if (table.rows.size() < 2 || !any) return {};
  const auto lines = static_cast<std::size_t>(std::max(0, size.rows - kOtherLines));
  const std::vector<const ComparedRow*> rows = shown_rows(table, std::max(kFewestArms, lines));
  std::string text =
      fitted_table(by_arm, rows, static_cast<std::size_t>(std::max(1, size.columns)));
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
