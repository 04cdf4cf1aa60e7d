#include "sweeps/page/resume_seams.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/config/axis_labels.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/cells/cell_result.hpp"
#include "storage/store.hpp"
#include "sweeps/compare/number_text.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostSeams = 200;  // of a table

void add_seams_of_result(const TableReader& file, std::size_t row, std::vector<LossSeam>& out) {
  for (const char* const name : {"event_kind", "event_step", "event_value"}) {
    if (!file.has(name)) return;
  }
  const VariableColumn kinds = file.read("event_kind"), steps = file.read("event_step"),
                       values = file.read("event_value");
  for (std::size_t i = 0; i < kinds.items(); ++i) {
    if (kinds.integer(i) != static_cast<std::int64_t>(EventKind::ResumeSeam)) continue;
    out.push_back({row, steps.integer(i), values.number(i)});
  }
}

void add_seams_of_journals(const Store& store, const CellId& cell, std::size_t row,
                           std::vector<LossSeam>& out) {
  for (const JournalEvent& event : read_history(store.cell_path(cell), store.fs()).events) {
    if (event.kind == EventKind::ResumeSeam) out.push_back({row, event.step, event.value});
  }
}

/// Of a difference that is not known: smaller than any.
double seam_size(const LossSeam& seam) {
  return std::isnan(seam.difference) ? -1 : std::abs(seam.difference);
}

std::string seam_difference(double difference) {
  return std::isnan(difference) ? "-" : fmt::format("{:+.4g}", difference);
}

std::string seams_sentence(const Listing& listing, const std::vector<LossSeam>& seams) {
  const LossSeam& largest = *std::ranges::max_element(seams, {}, seam_size);
  std::string out = fmt::format("{} seam{}, where a cell went on after an interruption",
                                seams.size(), seams.size() == 1 ? "" : "s");
  if (!std::isnan(largest.difference)) {
    out += fmt::format(
        ": the training loss of its first step differs from that of the step before by {}{:.4g} "
        "({}, from step {})",
        seams.size() == 1 ? "" : "at most ", std::abs(largest.difference),
        listing.cells[largest.row].alias, largest.step);
  }
  return out + ". Two steps are two batches, so that losses differ at any step.";
}

}  // namespace

std::vector<LossSeam> resume_seams(const Listing& listing, const std::vector<std::size_t>& rows) {
  std::vector<LossSeam> out;
  for (const std::size_t row : rows) {
    const CellSummary& cell = listing.cells[row];
    if (cell.attempts < 2 || listing.of_table(row)) continue;
    const std::size_t known = out.size();
    try {
      const Store store = Store::open(listing.store_of(row));
      if (is_result(cell.status)) {
        add_seams_of_result(
            open_cell_file(store.cell_path(cell.id) / "result.h5", cell.id, "", store.fs()), row,
            out);
      } else {
        add_seams_of_journals(store, cell.id, row, out);
      }
    } catch (const StorageError&) {
      out.resize(known);
    }
  }
  return out;
}

PageBlocks seam_blocks(const Listing& listing, std::vector<LossSeam> seams) {
  if (seams.empty()) return {};
  PageBlocks out = {PageText{PageText::Kind::Heading, "Seams of resumes"},
                    PageText{PageText::Kind::Paragraph, seams_sentence(listing, seams)}};
  const std::size_t more = seams.size() - std::min(kMostSeams, seams.size());
  if (more > 0) {
    std::ranges::stable_sort(seams, std::ranges::greater(), seam_size);
    seams.resize(kMostSeams);
  }
  PageTable table{
      "seams of resumes",
      {{{"cell"}, {"goes on from step", Align::Right}, {"difference of the loss", Align::Right}},
       {}}};
  table.exact = table.table;
  for (const LossSeam& seam : seams) {
    const std::string& cell = listing.cells[seam.row].alias;
    const std::string step = std::to_string(seam.step);
    table.table.rows.push_back({cell, step, seam_difference(seam.difference)});
    table.exact.rows.push_back({cell, step, exact_number(seam.difference)});
  }
  out.emplace_back(std::move(table));
  if (more > 0) {
    out.emplace_back(PageText{PageText::Kind::Note,
                              fmt::format("And {} more, with smaller differences.", more)});
  }
  return out;
}

}  // namespace depthgrid
