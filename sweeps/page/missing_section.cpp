#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sweeps/compare/arms_notes.hpp"
#include "sweeps/page/page_sections.hpp"

namespace depthgrid {

namespace {

constexpr std::size_t kMostCellsListed = 200;

/// Why a cell has no figure: in numbers of the store, or what of its files is damaged; texts of
/// logs only if the page may have them.
std::string missing_reason(const CellSummary& cell, bool logs) {
  std::string out = logs ? cell.problem : std::string();
  if (cell.status == CellStatus::Diverged) {
    const auto loss = cell.metrics.find("train_loss");  // one that is not finite is absent
    out = loss == cell.metrics.end()
              ? fmt::format("loss not finite at step {}", cell.step)
              : fmt::format("diverged at step {}, training loss {:.6g}", cell.step, loss->second);
  }
  return out + (out.empty() || cell.damage.empty() ? "" : "; ") + cell.damage;
}

/// Rows of a table, and how many it has no place for.
struct ListedCells {
  Table table;
  std::size_t more = 0;

  void add(std::vector<std::string> line) {
    if (table.rows.size() == kMostCellsListed) {
      ++more;
    } else {
      table.rows.push_back(std::move(line));
    }
  }
  std::size_t size() const { return table.rows.size() + more; }
};

void add_listed(PageBlocks& out, const char* caption, ListedCells cells) {
  out.emplace_back(PageTable{caption, std::move(cells.table), false});
  if (cells.more == 0) return;
  out.emplace_back(PageText{PageText::Kind::Note, fmt::format("And {} more.", cells.more)});
}

}  // namespace

PageBlocks missing_section(const PageData& data) {
  ListedCells missing{
      {{{"cell"}, {"state"}, {"step", Align::Right}, {"of", Align::Right}, {"reason"}}, {}}};
  ListedCells damaged{{{{"cell"}, {"damage"}}, {}}};  // that have completed all the same
  bool hidden = false;                                // a reason
  std::array<std::size_t, 7> counts{};
  for (const std::size_t row : data.rows) {
    const CellSummary& cell = data.listing.cells[row];
    ++counts[static_cast<std::size_t>(cell.status)];
    if (cell.status == CellStatus::Completed) {
      if (!cell.damage.empty()) damaged.add({cell.alias, cell.damage});
      continue;
    }
    missing.add({cell.alias, std::string(name_of(cell.status)), std::to_string(cell.step),
                 std::to_string(cell.steps), missing_reason(cell, data.include.logs)});
    hidden = hidden || (!data.include.logs && !cell.problem.empty());
  }
  const auto text = [](PageText::Kind kind, std::string words) {
    return PageText{kind, std::move(words)};
  };
  using enum PageText::Kind;
  PageBlocks blocks;
  if (missing.size() == 0) {
    blocks.emplace_back(text(Paragraph, "Nothing: every cell has completed."));
  } else {
    blocks.emplace_back(text(Paragraph, fmt::format("Not in any mean: {}.", missing_text(counts))));
    add_listed(blocks, "cells without a result", std::move(missing));
  }
  if (hidden) {
    blocks.emplace_back(
        text(Note, "Reasons of failures are text of logs: --include logs shows them here."));
  }
  if (damaged.size() == 0) return blocks;
  blocks.emplace_back(
      text(Paragraph, fmt::format("Of {} completed cell{}, whose numbers count, files are damaged.",
                                  damaged.size(), damaged.size() == 1 ? "" : "s")));
  add_listed(blocks, "completed cells with damaged files", std::move(damaged));
  return blocks;
}

}  // namespace depthgrid
